#include "coden/sample/schedule_sampler.h"

#include <algorithm>
#include <cmath>

#include "coden/read/event_batch.h"

namespace coden {

namespace {

// Rows between asking for an edge's memory and using it: about a miss of the cache.
constexpr std::int64_t kRowsAhead = 16;

}  // namespace

ScheduleSampler::ScheduleSampler(LazySampler sampler, NodeFeatures::Updates updates,
                                 NodeIdMap& nodes)
    : sampler_(std::move(sampler)), updates_(std::move(updates)), nodes_(nodes) {}

arrow::Result<std::unique_ptr<ScheduleSampler>> ScheduleSampler::Make(
    const SampleOptions& sample, const EmbedOptions& embed, const GraphOptions& graph,
    const NodeFeatures& features, NodeIdMap& nodes) {
  LazySampler sampler(sample, embed, graph, [&features, &nodes](NodeId node) {
    return features.LargestEntry(node, nodes);
  });
  ARROW_ASSIGN_OR_RAISE(auto updates, features.OpenUpdates(nodes));
  return std::unique_ptr<ScheduleSampler>(
      new ScheduleSampler(std::move(sampler), std::move(updates), nodes));
}

arrow::Result<SchemaPtr> ScheduleSampler::Bind(const SchemaPtr&) {
  return ScheduleSchema();
}

arrow::Status ScheduleSampler::ContinueAfter(EventTime time) {
  return updates_.AdvanceTo(time, nodes_, [](NodeId, std::span<const float>) {});
}

arrow::Status ScheduleSampler::FoldUpdates(EventTime time, Schedule* points) {
  if (updates_.done()) return arrow::Status::OK();
  return updates_.AdvanceTo(time, nodes_,
                            [&](NodeId node, std::span<const float> vector) {
                              float largest = 0.0f;
                              for (const float value : vector)
                                largest = std::max(largest, std::abs(value));
                              sampler_.OnFeatureUpdate(node, largest, points);
                            });
}

arrow::Status ScheduleSampler::Push(BatchPtr batch, const Emit& emit) {
  const EventView events(*batch);
  Schedule points;
  for (std::int64_t row = 0; row < events.size(); ++row) {
    const EdgeEvent event = events[row];
    if (row + kRowsAhead < events.size()) {
      const EdgeEvent soon = events[row + kRowsAhead];
      if (soon.src != kNoNode) sampler_.Prefetch(soon);
    }
    switch (event.kind) {
      case EventKind::kStart:
        sampler_.OnStart(event.time, &points);
        break;
      case EventKind::kPredict:
        ARROW_RETURN_NOT_OK(FoldUpdates(event.time, &points));
        sampler_.OnPredict(event.time, &points);
        break;
      default: {
        ARROW_RETURN_NOT_OK(FoldUpdates(event.time, &points));
        const arrow::Status status = sampler_.OnEvent(event, &points);
        if (!status.ok()) {
          refused_row_ = events.rows()[row];
          return status.WithMessage(nodes_.Show(event.src), " to ",
                                    nodes_.Show(event.dst), " at time ", event.time, ": ",
                                    status.message());
        }
      }
    }
  }
  if (points.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto rows, ScheduleToBatch(points));
  return emit(std::move(rows));
}

arrow::Status ScheduleSampler::Finish(const Emit&) { return arrow::Status::OK(); }

}  // namespace coden
