#include "coden/sample/lazy_sampler.h"

#include <algorithm>

namespace coden {

LazySampler::LazySampler(const SampleOptions& sample, const EmbedOptions& embed,
                         const GraphOptions& graph, LargestEntry largest_entry)
    : options_(sample),
      has_window_(graph.window > 0),
      graph_(ShiftedGraph::Make(sample, embed, graph)),
      largest_entry_(std::move(largest_entry)) {}

void LazySampler::MakeRoomFor(NodeId node) {
  if (node < static_cast<NodeId>(seen_.size())) return;
  seen_.resize(node + 1, false);
  largest_.resize(node + 1, 0.0f);
  first_event_.resize(node + 1, kNever);
  graph_->Grow(node + 1);
}

void LazySampler::See(NodeId node, float largest) {
  seen_[node] = true;
  ++num_seen_;
  largest_[node] = largest;
  graph_->SetLargestEntry(node, largest);
  graph_->SetPresent(node);
}

void LazySampler::SeeNode(NodeId node) {
  MakeRoomFor(node);
  if (!seen_[node]) See(node, largest_entry_(node));
}

void LazySampler::SeeInEvent(NodeId node, EventTime time) {
  const bool known =
      node < static_cast<NodeId>(first_event_.size()) && first_event_[node] != kNever;
  if (known) return;
  SeeNode(node);
  first_event_[node] = time;
}

SamplerMemory LazySampler::Memory() const {
  return {num_snapshots_, prediction_, num_events_, graph_->mass(), graph_->counts()};
}

std::vector<SampledNode> LazySampler::Nodes() const {
  std::vector<SampledNode> nodes;
  nodes.reserve(seen_.size());
  for (std::size_t node = 0; node < seen_.size(); ++node)
    nodes.push_back({seen_[node], largest_[node], first_event_[node]});
  return nodes;
}

void LazySampler::RestoreNode(NodeId node, const SampledNode& known) {
  MakeRoomFor(node);
  first_event_[node] = known.first_event;
  if (known.seen) See(node, known.largest);
}

void LazySampler::Restore(const SamplerMemory& memory) {
  graph_->Restart(memory.counts, memory.mass);
  num_snapshots_ = memory.num_snapshots;
  prediction_ = memory.prediction;
  num_events_ = memory.num_events;
  most_pending_ = graph_->num_pending();
}

arrow::Status LazySampler::OnEvent(const EdgeEvent& event, Schedule* schedule) {
  FlushPending(schedule);
  SeeInEvent(event.src, event.time);
  SeeInEvent(event.dst, event.time);
  ARROW_RETURN_NOT_OK(graph_->Apply(event));
  if (has_window_) most_pending_ = std::max(most_pending_, graph_->num_pending());
  ++num_events_;
  last_time_ = event.time;
  const bool room =
      options_.max_per_interval == 0 || taken_in_interval_ < options_.max_per_interval;
  pending_ = prediction_ > 0 && room && graph_->sigma() > options_.lambda;
  return arrow::Status::OK();
}

void LazySampler::OnFeatureUpdate(NodeId node, float largest, Schedule* schedule) {
  FlushPending(schedule);
  SeeNode(node);
  // |x' - x| <= |x'| + |x| in every column; the old vector itself is not kept. The shift
  // is relative to the mass after the change, so that the first features count as well.
  graph_->SetLargestEntry(node, largest);
  graph_->FeatureChange(node, largest_[node] + largest);
  largest_[node] = largest;
}

SchedulePoint LazySampler::PointAt(EventTime time) const {
  SchedulePoint point;
  point.prediction = prediction_;
  point.time = time;
  point.events = num_events_;
  point.num_nodes = num_seen_;
  point.num_edges = graph_->num_edges();
  point.sigma = graph_->sigma();
  return point;
}

void LazySampler::Take(SchedulePoint point, Schedule* schedule) {
  point.snapshot = num_snapshots_++;
  schedule->push_back(point);
  graph_->Reset();
  pending_ = false;
}

void LazySampler::FlushPending(Schedule* schedule) {
  if (!pending_) return;
  ++taken_in_interval_;
  Take(PointAt(last_time_), schedule);
}

void LazySampler::OnStart(EventTime time, Schedule* schedule) {
  // An empty initial graph has nothing to remember.
  if (num_events_ > 0) {
    SchedulePoint point = PointAt(time);
    point.sigma =
        0.0;  // there is no snapshot before it that anything could have moved from
    Take(point, schedule);
  }
  prediction_ = 1;
}

void LazySampler::OnPredict(EventTime time, Schedule* schedule) {
  graph_->ExpireUntil(time);
  SchedulePoint point = PointAt(time);
  point.at_prediction = true;
  Take(point, schedule);
  ++prediction_;
  taken_in_interval_ = 0;
}

}  // namespace coden
