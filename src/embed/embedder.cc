#include "coden/embed/embedder.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/type.h>

#include "coden/read/event_batch.h"

namespace coden {

namespace {

// Numbers per emitted batch: a snapshot of any size passes in pieces. Pieces are counted
// in nodes, so they do not depend on how the log was read.
constexpr std::int64_t kNumbersPerBatch = 1 << 23;

arrow::Status LogChanged() {
  return arrow::Status::Invalid("an input changed while it was read; run again");
}

std::shared_ptr<arrow::DataType> EmbeddingType() {
  return arrow::list(arrow::field("element", arrow::float32(), /*nullable=*/false));
}

}  // namespace

Embedder::Embedder(const EmbedderOptions& options, const Schedule& schedule,
                   NodeFeatures::Updates updates, NodeIdMap& nodes)
    : options_(options),
      schedule_(schedule),
      updates_(std::move(updates)),
      nodes_(nodes),
      graph_(options.graph),
      engine_(options.embed, options.columns.size()),
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
        if (!known) return;
        embedder->engine_.SetFeatures(
            node, vector.subspan(options.columns.begin, options.columns.size()));
      }));
  if (!known) return LogChanged();
  std::fill_n(embedder->present_.begin(), features.num_rows(), true);
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
  const EventView events(*batch);
  for (std::int64_t row = 0; row < events.size(); ++row) {
    ARROW_RETURN_NOT_OK(TakeDue(emit));
    if (next_point_ == schedule_.size()) return arrow::Status::OK();
    const EdgeEvent event = events[row];
    if (std::max(event.src, event.dst) >= engine_.num_nodes()) return LogChanged();
    ARROW_RETURN_NOT_OK(graph_.Apply(event, changes_));
    present_[event.src] = true;
    present_[event.dst] = true;
    ++num_events_;
  }
  return TakeDue(emit);
}

arrow::Status Embedder::Finish(const Emit& emit) {
  ARROW_RETURN_NOT_OK(TakeDue(emit));
  if (next_point_ != schedule_.size()) {
    return LogChanged();
  }
  return arrow::Status::OK();
}

arrow::Status Embedder::TakeDue(const Emit& emit) {
  for (; next_point_ < schedule_.size() && schedule_[next_point_].events == num_events_;
       ++next_point_) {
    const SchedulePoint& point = schedule_[next_point_];
    bool known = true;
    ARROW_RETURN_NOT_OK(updates_.AdvanceTo(
        point.time, nodes_, [&](NodeId node, std::span<const float> vector) {
          known = known && node < engine_.num_nodes();
          if (!known) return;
          engine_.SetFeatures(
              node, vector.subspan(options_.columns.begin, options_.columns.size()));
          present_[node] = true;
        }));
    if (!known) return LogChanged();
    if (point.at_prediction) graph_.ExpireUntil(point.time, changes_);
    const SolveWork work = engine_.Update(
        graph_.graph(), changes_, [this] { return options_.stop.IsStopRequested(); });
    ARROW_RETURN_NOT_OK(options_.stop.Poll());
    changes_.Clear();
    figures_.work.sweeps += work.sweeps;
    figures_.work.pushes += work.pushes;
    figures_.work.arcs += work.arcs;
    figures_.worst_error_bound =
        std::max(figures_.worst_error_bound,
                 engine_.ErrorBound() /
                     static_cast<double>(std::max(point.num_nodes, std::int64_t{1})));
    ARROW_RETURN_NOT_OK(EmitSnapshot(point.snapshot, emit));
  }
  return arrow::Status::OK();
}

arrow::Status Embedder::EmitSnapshot(int snapshot, const Emit& emit) {
  const int width = engine_.num_columns();
  const std::int64_t rows_per_batch =
      std::max<std::int64_t>(1, kNumbersPerBatch / std::max(width, options_.row_width));
  std::vector<NodeId> rows;
  const auto flush = [&]() -> arrow::Status {
    const auto count = static_cast<std::int64_t>(rows.size());
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values,
                          arrow::AllocateBuffer(count * width * sizeof(float)));
    auto* out = reinterpret_cast<float*>(values->mutable_data());
    std::vector<std::int32_t> offsets(count + 1);
    for (std::int64_t row = 0; row < count; ++row) {
      engine_.CopyRow(rows[row], out + row * width);
      offsets[row + 1] = static_cast<std::int32_t>((row + 1) * width);
    }
    ARROW_ASSIGN_OR_RAISE(auto ids, nodes_.Take(rows));
    auto numbers = std::make_shared<arrow::FloatArray>(count * width, values);
    auto embeddings = std::make_shared<arrow::ListArray>(
        EmbeddingType(), count, arrow::Buffer::FromVector(std::move(offsets)), numbers);
    std::vector<std::int32_t> number(count, snapshot);
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
  return rows.empty() ? arrow::Status::OK() : flush();
}

}  // namespace coden
