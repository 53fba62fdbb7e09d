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
  if (node < static_cast<NodeId>(nodes_.size())) return;
  nodes_.resize(node + 1);
  graph_->Grow(node + 1);
}

void LazySampler::See(NodeId node, float largest) {
  ++num_seen_;
  nodes_[node].largest = largest;
  graph_->SetLargestEntry(node, largest);
  graph_->SetPresent(node);
}

void LazySampler::SeeNode(NodeId node) {
  MakeRoomFor(node);
  if (nodes_[node].seen()) return;
  nodes_[node].since = num_snapshots_;
  See(node, largest_entry_(node));
}

void LazySampler::SeeInEvent(NodeId node, EventTime time) {
  if (node < static_cast<NodeId>(nodes_.size()) && nodes_[node].arrival >= 0) return;
  SeeNode(node);
  nodes_[node].first_event = time;
  nodes_[node].arrival = num_arrived_++;
}

void LazySampler::Record(OnSampled on_sampled) {
  on_sampled_ = std::move(on_sampled);
  graph_->RecordTo(&changes_);
}

SamplerMemory LazySampler::Memory() const {
  return {num_snapshots_, prediction_, num_events_, graph_->mass(), graph_->counts()};
}

void LazySampler::RestoreNode(NodeId node, const SampledNode& known) {
  MakeRoomFor(node);
  nodes_[node] = known;
  num_arrived_ = std::max(num_arrived_, known.arrival + 1);
  if (known.seen()) See(node, known.largest);
}

void LazySampler::Restore(const SamplerMemory& memory) {
  graph_->Restart(memory.counts, memory.mass);
  num_snapshots_ = memory.num_snapshots;
  prediction_ = memory.prediction;
  num_events_ = memory.num_events;
  most_pending_ = static_cast<std::int64_t>(graph_->pending_expiries().size());
}

arrow::Status LazySampler::OnEvent(const EdgeEvent& event, Schedule* schedule) {
  FlushPending(schedule);
  SeeInEvent(event.src, event.time);
  SeeInEvent(event.dst, event.time);
  ARROW_RETURN_NOT_OK(graph_->Apply(event));
  if (has_window_)
    most_pending_ = std::max(
        most_pending_, static_cast<std::int64_t>(graph_->pending_expiries().size()));
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
  graph_->FeatureChange(node, nodes_[node].largest + largest);
  nodes_[node].largest = largest;
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
  if (on_sampled_) on_sampled_(point, changes_.Take(), *graph_);
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
