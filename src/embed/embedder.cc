#include "coden/embed/embedder.h"

#include <algorithm>
#include <chrono>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/type.h>

#include "coden/pipeline/error.h"
#include "coden/read/event_batch.h"
#include "embed/snapshot_update_internal.h"

namespace coden {

namespace {

// Numbers per emitted batch: a snapshot of any size passes in pieces. Pieces are counted
// in nodes, so they do not depend on how the log was read.
constexpr std::int64_t kNumbersPerBatch = 1 << 23;

std::shared_ptr<arrow::DataType> EmbeddingType() {
  return arrow::list(arrow::field("element", arrow::float32(), /*nullable=*/false));
}

}  // namespace

Embedder::Embedder(const EmbedderOptions& options, const Schedule& schedule,
                   NodeFeatures::Updates updates, NodeIdMap& nodes)
    : options_(options),
      replay_(schedule),
      updates_(std::move(updates)),
      nodes_(nodes),
      graph_(options.graph),
      engine_(options.embed, options.num_columns()),
      present_(nodes.size(), false) {
  graph_.Grow(nodes.size());
  engine_.Grow(nodes.size());
}

arrow::Result<std::unique_ptr<Embedder>> Embedder::Make(const EmbedderOptions& options,
                                                        const Schedule& schedule,
                                                        const NodeFeatures& features,
                                                        NodeIdMap& nodes) {
  ARROW_ASSIGN_OR_RAISE(auto updates, features.OpenUpdates(nodes));
  std::unique_ptr<Embedder> embedder(
      new Embedder(options, schedule, std::move(updates), nodes));
  // Nodes that have not arrived yet get their features now. They have no arcs, so they
  // touch no other node's embedding, and no snapshot shows them before they are present.
  bool known = true;
  ARROW_RETURN_NOT_OK(
      features.ForEach(nodes, [&](NodeId node, std::span<const float> vector) {
        known = known && node < embedder->engine_.num_nodes();
        if (known) embedder->SetFeatures(node, vector);
      }));
  if (!known) return InputChanged();
  for (const NodeId node : options.initial_nodes) embedder->present_[node] = true;
  return embedder;
}

arrow::Result<SchemaPtr> Embedder::Bind(const SchemaPtr&) {
  output_ = arrow::schema({
      arrow::field("snapshot", arrow::int32(), /*nullable=*/false),
      arrow::field("node", nodes_.id_type(), /*nullable=*/false),
      arrow::field("embedding", EmbeddingType(), /*nullable=*/false),
  });
  return output_;
}

arrow::Status Embedder::Push(BatchPtr batch, const Emit& emit) {
  return replay_.Push(
      EventView(*batch),
      [this](const EdgeEvent& far, const EdgeEvent& near) {
        if (options_.graph.window > 0) graph_.Prefetch(far, near);
      },
      [this](const EdgeEvent& event) -> arrow::Status {
        if (std::max(event.src, event.dst) >= engine_.num_nodes()) return InputChanged();
        ARROW_RETURN_NOT_OK(events_.Add(event, graph_, changes_));
        present_[event.src] = true;
        present_[event.dst] = true;
        return arrow::Status::OK();
      },
      [&](const SchedulePoint& point) { return Take(point, emit); });
}

arrow::Status Embedder::Finish(const Emit& emit) {
  return replay_.Finish([&](const SchedulePoint& point) { return Take(point, emit); });
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
        if (!known) return;
        SetFeatures(node, vector);
        present_[node] = true;
      }));
  return known ? arrow::Status::OK() : InputChanged();
}

arrow::Status Embedder::ContinueAfter(int num_snapshots) {
  replay_.ContinueAfter(num_snapshots);
  const SchedulePoint* const last = replay_.last();
  return last == nullptr ? arrow::Status::OK() : UpdateFeatures(last->time);
}

arrow::Status Embedder::Take(const SchedulePoint& point, const Emit& emit) {
  ARROW_RETURN_NOT_OK(UpdateFeatures(point.time));
  ARROW_RETURN_NOT_OK(events_.Flush(graph_, changes_));
  SettleAt(point, graph_, changes_);
  const auto start = std::chrono::steady_clock::now();
  ARROW_ASSIGN_OR_RAISE(SolveWork work, UpdateAt(point, graph_.graph(), changes_,
                                                 options_.embed, options_.stop, engine_));
  work.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  changes_.Clear();
  figures_.work.push_back(work);
  ARROW_RETURN_NOT_OK(EmitSnapshot(point, emit));
  return options_.after_snapshot ? options_.after_snapshot(point.snapshot)
                                 : arrow::Status::OK();
}

arrow::Status Embedder::EmitSnapshot(const SchedulePoint& point, const Emit& emit) {
  const int width = engine_.num_columns();
  const std::int64_t rows_per_batch =
      std::max<std::int64_t>(1, kNumbersPerBatch / std::max(width, options_.row_width));
  std::vector<NodeId> rows;
  std::vector<double> rounding(width, 0.0);
  const auto flush = [&]() -> arrow::Status {
    const auto count = static_cast<std::int64_t>(rows.size());
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values,
                          arrow::AllocateBuffer(count * width * sizeof(float)));
    auto* out = reinterpret_cast<float*>(values->mutable_data());
    std::vector<std::int32_t> offsets(count + 1);
    engine_.CopyRows(rows, out, rounding);
    for (std::int64_t row = 0; row < count; ++row)
      offsets[row + 1] = static_cast<std::int32_t>((row + 1) * width);
    ARROW_ASSIGN_OR_RAISE(auto ids, nodes_.Take(rows));
    auto numbers = std::make_shared<arrow::FloatArray>(count * width, values);
    auto embeddings = std::make_shared<arrow::ListArray>(
        EmbeddingType(), count, arrow::Buffer::FromVector(std::move(offsets)), numbers);
    std::vector<std::int32_t> number(count, point.snapshot);
    auto snapshots = std::make_shared<arrow::Int32Array>(
        count, arrow::Buffer::FromVector(std::move(number)));
    rows.clear();
    return emit(arrow::RecordBatch::Make(output_, count, {snapshots, ids, embeddings}));
  };
  for (NodeId node = 0; node < static_cast<NodeId>(present_.size()); ++node) {
    if (present_[node]) rows.push_back(node);
    if (static_cast<std::int64_t>(rows.size()) == rows_per_batch)
      ARROW_RETURN_NOT_OK(flush());
  }
  if (!rows.empty()) ARROW_RETURN_NOT_OK(flush());
  double worst = 0.0;
  const std::vector<double> bounds = engine_.ErrorBounds();
  for (int column = 0; column < width; ++column)
    worst = std::max(worst, bounds[column] + rounding[column]);
  figures_.error_bounds.push_back(
      worst / static_cast<double>(std::max<std::int64_t>(point.num_nodes, 1)));
  return arrow::Status::OK();
}

}  // namespace coden
