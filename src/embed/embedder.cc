#include "coden/embed/embedder.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

#include "coden/base/error.h"
#include "embed/snapshot_update_internal.h"

namespace coden {

namespace {

// Numbers per emitted batch: a snapshot of any size passes in pieces. Pieces are counted
// in nodes, so they do not depend on the slice.
constexpr std::int64_t kNumbersPerBatch = 1 << 23;

std::shared_ptr<arrow::DataType> EmbeddingType() {
  return arrow::list(arrow::field("element", arrow::float32(), /*nullable=*/false));
}

}  // namespace

Embedder::Embedder(const EmbedderOptions& options, const Schedule& schedule,
                   std::shared_ptr<const NodeTimes> times, GraphSource& graphs,
                   NodeFeatures::Updates updates, NodeIdMap& nodes)
    : options_(options),
      schedule_(schedule),
      times_(std::move(times)),
      graphs_(graphs),
      updates_(std::move(updates)),
      nodes_(nodes),
      graph_(options.directed),
      engine_(options.embed, options.num_columns()) {
  graph_.Grow(nodes.size());
  engine_.Grow(nodes.size());
  engine_.SetArrivals({times_, &times_->arrivals});
}

arrow::Result<std::unique_ptr<Embedder>> Embedder::Make(
    const EmbedderOptions& options, const Schedule& schedule, int num_done,
    std::shared_ptr<const NodeTimes> times, GraphSource& graphs,
    const NodeFeatures& features, NodeIdMap& nodes) {
  ARROW_ASSIGN_OR_RAISE(auto updates, features.OpenUpdates(nodes));
  std::unique_ptr<Embedder> embedder(new Embedder(options, schedule, std::move(times),
                                                  graphs, std::move(updates), nodes));
  // Nodes that have not arrived yet get their features now. They have no arcs, so they
  // touch no other node's embedding, and no snapshot shows them before they are present.
  bool known = true;
  ARROW_RETURN_NOT_OK(
      features.ForEach(nodes, [&](NodeId node, std::span<const float> vector) {
        known = known && node < embedder->engine_.num_nodes();
        if (known) embedder->SetFeatures(node, vector);
      }));
  if (!known) return InputChanged();
  if (num_done == 0) return embedder;
  embedder->next_point_ = static_cast<std::size_t>(num_done);
  ARROW_RETURN_NOT_OK(embedder->UpdateFeatures(schedule[num_done - 1].time));
  ARROW_RETURN_NOT_OK(graphs.Load(schedule[num_done - 1].snapshot + 1, embedder->graph_));
  return embedder;
}

SchemaPtr Embedder::OutputSchema() {
  return arrow::schema({
      arrow::field("snapshot", arrow::int32(), /*nullable=*/false),
      arrow::field("node", arrow::int32(), /*nullable=*/false),
      arrow::field("embedding", EmbeddingType(), /*nullable=*/false),
  });
}

std::vector<std::int64_t> RowCounts(const Schedule& schedule, int num_done,
                                    const NodeTimes& times,
                                    const std::optional<std::vector<NodeId>>& chosen) {
  // Nodes that come with a snapshot, then summed up.
  std::vector<std::int64_t> counts(schedule.size() + 1, 0);
  const auto count = [&](NodeId node) {
    const std::int32_t since = times.since[node];
    if (since < 0) return;
    const auto first =
        std::ranges::lower_bound(schedule, since, {}, &SchedulePoint::snapshot);
    ++counts[first - schedule.begin()];
  };
  if (chosen) {
    std::ranges::for_each(*chosen, count);
  } else {
    for (std::size_t node = 0; node < times.since.size(); ++node)
      count(static_cast<NodeId>(node));
  }
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
  counts.pop_back();
  counts.erase(counts.begin(), counts.begin() + num_done);
  return counts;
}

void Embedder::SetFeatures(NodeId node, std::span<const float> vector) {
  const auto slice = vector.subspan(options_.columns.begin, options_.columns.size());
  if (options_.column_step == 1) return engine_.SetFeatures(node, slice);
  std::vector<float> sample;
  for (std::size_t column = 0; column < slice.size(); column += options_.column_step)
    sample.push_back(slice[column]);
  engine_.SetFeatures(node, sample);
}

arrow::Status Embedder::UpdateFeatures(EventTime time) {
  bool known = true;
  ARROW_RETURN_NOT_OK(
      updates_.AdvanceTo(time, nodes_, [&](NodeId node, std::span<const float> vector) {
        known = known && node < engine_.num_nodes();
        if (known) SetFeatures(node, vector);
      }));
  return known ? arrow::Status::OK() : InputChanged();
}

arrow::Status Embedder::Embed(const SchedulePoint& point) {
  ARROW_RETURN_NOT_OK(UpdateFeatures(point.time));
  ARROW_RETURN_NOT_OK(graphs_.AdvanceTo(point.snapshot, graph_));
  const auto start = std::chrono::steady_clock::now();
  ARROW_ASSIGN_OR_RAISE(SolveWork work,
                        UpdateAt(point, graph_, options_.embed, options_.stop, engine_));
  work.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  graph_.Settle();
  figures_.work.push_back(work);
  rows_.clear();
  next_row_ = 0;
  rounding_.assign(engine_.num_columns(), 0.0);
  const auto add = [&](NodeId node) {
    if (IsPresent(node, point.snapshot)) rows_.push_back(node);
  };
  if (options_.chosen) {
    std::ranges::for_each(*options_.chosen, add);
  } else {
    for (NodeId node = 0; node < nodes_.size(); ++node) add(node);
  }
  return arrow::Status::OK();
}

arrow::Status Embedder::ReadNext(BatchPtr* batch) {
  *batch = nullptr;
  while (next_row_ == rows_.size()) {
    if (next_point_ == schedule_.size()) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(Embed(schedule_[next_point_++]));
    if (rows_.empty()) ARROW_RETURN_NOT_OK(EndSnapshot(schedule_[next_point_ - 1]));
  }
  const SchedulePoint& point = schedule_[next_point_ - 1];
  const int width = engine_.num_columns();
  const std::int64_t most_rows =
      std::max<std::int64_t>(1, kNumbersPerBatch / std::max(width, options_.row_width));
  const auto count = std::min<std::int64_t>(
      most_rows, static_cast<std::int64_t>(rows_.size() - next_row_));
  const std::span<const NodeId> rows =
      std::span(rows_).subspan(next_row_, static_cast<std::size_t>(count));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values,
                        arrow::AllocateBuffer(count * width * sizeof(float)));
  engine_.CopyRows(rows, reinterpret_cast<float*>(values->mutable_data()), rounding_);
  next_row_ += static_cast<std::size_t>(count);
  if (next_row_ == rows_.size()) ARROW_RETURN_NOT_OK(EndSnapshot(point));
  std::vector<std::int32_t> offsets(count + 1);
  for (std::int64_t row = 0; row < count; ++row)
    offsets[row + 1] = static_cast<std::int32_t>((row + 1) * width);
  *batch = arrow::RecordBatch::Make(
      OutputSchema(), count,
      {std::make_shared<arrow::Int32Array>(
           count,
           arrow::Buffer::FromVector(std::vector<std::int32_t>(count, point.snapshot))),
       std::make_shared<arrow::Int32Array>(
           count,
           arrow::Buffer::FromVector(std::vector<NodeId>(rows.begin(), rows.end()))),
       std::make_shared<arrow::ListArray>(
           EmbeddingType(), count, arrow::Buffer::FromVector(std::move(offsets)),
           std::make_shared<arrow::FloatArray>(count * width, std::move(values)))});
  return arrow::Status::OK();
}

arrow::Status Embedder::EndSnapshot(const SchedulePoint& point) {
  double worst = 0.0;
  const std::vector<double> bounds = engine_.ErrorBounds();
  for (std::size_t column = 0; column < bounds.size(); ++column)
    worst = std::max(worst, bounds[column] + rounding_[column]);
  figures_.error_bounds.push_back(
      worst / static_cast<double>(std::max<std::int64_t>(point.num_nodes, 1)));
  return options_.after_snapshot ? options_.after_snapshot(point.snapshot)
                                 : arrow::Status::OK();
}

}  // namespace coden
