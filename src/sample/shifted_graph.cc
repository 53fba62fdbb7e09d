#include "coden/sample/shifted_graph.h"

#include "coden/sample/shift_bound.h"
#include "sample/mass_bound_internal.h"

namespace coden {

namespace {

template <typename Graph, typename Shift>
class ShiftedGraphOf final : public ShiftedGraph {
 public:
  ShiftedGraphOf(const GraphOptions& graph, std::unique_ptr<Shift> shift)
      : events_(graph), shift_(std::move(shift)) {}

  const GraphOptions& options() const override { return events_.options(); }
  void Grow(NodeId num_nodes) override { events_.Grow(num_nodes); }

  arrow::Status Apply(const EdgeEvent& event) override {
    ARROW_RETURN_NOT_OK(events_.Apply(event, *shift_));
    shift_->EndEvent(events_.graph());
    return arrow::Status::OK();
  }

  void ExpireUntil(EventTime time) override { events_.ExpireUntil(time, *shift_); }
  void Prefetch(const EdgeEvent& event) const override {
    events_.Prefetch(event);
    shift_->Prefetch(event.src);
    shift_->Prefetch(event.dst);
  }
  const EventCounts& counts() const override { return events_.counts(); }
  std::int64_t num_edges() const override { return events_.num_edges(); }
  const std::deque<PendingExpiry>& pending_expiries() const override {
    return events_.pending_expiries();
  }
  std::vector<EdgeChange> Edges() const override {
    return events_.graph().Edges(events_.options().directed);
  }
  void RecordTo(NetChanges* changes) override { events_.RecordTo(changes); }

  void SetLargestEntry(NodeId node, float largest) override {
    shift_->SetLargestEntry(node, largest);
  }
  void SetPresent(NodeId node) override { shift_->SetPresent(node); }
  void FeatureChange(NodeId node, float largest_change) override {
    shift_->FeatureChange(node, largest_change);
  }
  double sigma() const override { return shift_->sigma(); }
  void Reset() override { shift_->Reset(events_.graph()); }
  double mass() const override { return shift_->mass(); }

  void RestoreEdge(NodeId src, NodeId dst) override { events_.RestoreEdge(src, dst); }
  void RestoreExpiry(const PendingExpiry& insertion) override {
    events_.RestoreExpiry(insertion);
  }
  void Restart(const EventCounts& counts, double mass) override {
    events_.RestoreCounts(counts);
    shift_->Restart(events_.graph(), mass);
  }

 private:
  BasicEventGraph<Graph> events_;
  std::unique_ptr<Shift> shift_;
};

template <typename Graph, typename Shift>
std::unique_ptr<ShiftedGraph> Join(const GraphOptions& graph,
                                   std::unique_ptr<Shift> shift) {
  return std::make_unique<ShiftedGraphOf<Graph, Shift>>(graph, std::move(shift));
}

}  // namespace

std::unique_ptr<ShiftedGraph> ShiftedGraph::Make(const SampleOptions& sample,
                                                 const EmbedOptions& embed,
                                                 const GraphOptions& graph) {
  switch (sample.bound) {
    case ShiftBound::kStrict:
      return Join<DynamicGraph>(graph,
                                MakeShiftAccumulator(sample, embed, graph.directed));
    case ShiftBound::kPaper:
      return Join<DegreeGraph>(
          graph, std::make_unique<PaperBound<DegreeGraph>>(embed.alpha, embed.epsilon));
    case ShiftBound::kRelative:
      break;
  }
  return Join<DegreeGraph>(graph,
                           std::make_unique<RelativeBound<DegreeGraph>>(embed.alpha));
}

}  // namespace coden
