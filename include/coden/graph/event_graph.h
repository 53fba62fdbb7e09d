#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include <arrow/status.h>

#include "coden/base/types.h"
#include "coden/graph/degree_graph.h"
#include "coden/graph/dynamic_graph.h"
#include "coden/graph/edge_change.h"
#include "coden/settings/graph_options.h"

namespace coden {

/// What became of the rows that changed nothing.
struct EventCounts {
  std::int64_t repeated = 0;           ///< insertions of an edge that was there
  std::int64_t self_loops = 0;         ///< dropped
  std::int64_t missing_deletions = 0;  ///< deletions of an absent edge, skipped
  std::int64_t expired = 0;            ///< edges that left by `graph.window`
};

/// An insertion whose window (`graph.window`) has not ended.
struct PendingExpiry {
  NodeId src;
  NodeId dst;
  EventTime time;
  std::int64_t number;  ///< counts insertions
};

/// The error of a row that deletes an edge that is absent.
arrow::Status NoSuchEdge();

/// Watch the arcs of an event graph change.
template <typename Graph>
class BasicArcObserver {
 public:
  virtual ~BasicArcObserver() = default;
  /// The out-neighbourhood of `node` is about to change by one arc.
  virtual void BeforeChange(const Graph& graph, NodeId node) = 0;
  /// It has changed.
  virtual void AfterChange(const Graph& graph, NodeId node) = 0;
};

/// A graph driven by edge events: what a row means is decided here and nowhere else. Only
/// the first pass over the log has one; everybody after it sees net changes.
///
/// `Graph` is what the arcs are kept in: DynamicGraph, or DegreeGraph where nobody asks
/// for neighbours.
template <typename Graph>
class BasicEventGraph {
 public:
  explicit BasicEventGraph(GraphOptions options) : options_(options) {}

  const GraphOptions& options() const { return options_; }
  const Graph& graph() const { return graph_; }
  const EventCounts& counts() const { return counts_; }
  /// Edges present; an undirected edge counts once.
  std::int64_t num_edges() const { return num_edges_; }
  void Grow(NodeId num_nodes) { graph_.Grow(num_nodes); }

  /// Collect in `changes` which edges come and go from now on; null: nowhere.
  void RecordTo(NetChanges* changes) { record_ = changes; }

  /// `event` comes soon. Always inlined: see DegreeGraph.
  [[gnu::always_inline]] void Prefetch(const EdgeEvent& event) const {
    const bool swaps = !options_.directed && event.src > event.dst;
    graph_.Prefetch(swaps ? event.dst : event.src, swaps ? event.src : event.dst);
  }

  /// Let edges expire up to `event.time`, then apply the event. Times must not fall. The
  /// error of a deletion that finds no edge says nothing about the row: the caller adds
  /// it.
  template <typename Observer>
  arrow::Status Apply(const EdgeEvent& event, Observer& observer);

  /// Let edges expire whose window has ended at or before `time`.
  template <typename Observer>
  void ExpireUntil(EventTime time, Observer& observer);

  /// With a window: the insertions that will still expire, oldest first.
  const std::deque<PendingExpiry>& pending_expiries() const { return insertions_; }

  /// Put back what another graph with these options had become: its edges (an undirected
  /// one once), its pending expiries in order, its counts. No observer hears of it.
  void RestoreEdge(NodeId src, NodeId dst) {
    struct {
      void BeforeChange(const Graph&, NodeId) {}
      void AfterChange(const Graph&, NodeId) {}
    } nobody;
    ToggleEdge(graph_.FindArc(src, dst), nobody);
  }
  void RestoreExpiry(const PendingExpiry& insertion) {
    insertions_.push_back(insertion);
    num_insertions_ = insertion.number;
    // What was inserted may have been deleted since.
    if (graph_.FindArc(insertion.src, insertion.dst).present)
      last_insertion_[EdgeKey(insertion.src, insertion.dst)] = insertion.number;
  }
  void RestoreCounts(const EventCounts& counts) { counts_ = counts; }

 private:
  using ArcPlace = typename Graph::ArcPlace;

  // The edge that an event is about, under its one name: the lower end of an undirected
  // edge comes first, whichever end the log puts there.
  struct Edge {
    NodeId src;
    NodeId dst;
  };
  // Have the nodes of an event. Returns its edge; none for a self loop that is dropped.
  std::optional<Edge> EdgeOf(const EdgeEvent& event);
  // What an event does to an edge, and count it where that is nothing.
  enum class Effect { kChange, kNothing, kError };
  Effect EffectOf(EventKind kind, bool present);

  static std::uint64_t EdgeKey(NodeId src, NodeId dst) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(src)) << 32 |
           static_cast<std::uint32_t>(dst);
  }

  // Change an edge: one arc, or both of an undirected edge.
  template <typename Observer>
  void ToggleEdge(const ArcPlace& place, Observer& observer);
  template <typename Observer>
  void ToggleArc(const ArcPlace& place, Observer& observer);

  GraphOptions options_;
  Graph graph_;
  EventCounts counts_;
  std::int64_t num_edges_ = 0;
  NetChanges* record_ = nullptr;
  // With a window: every insertion that has not yet expired, oldest first, and the number
  // of the last one of each edge that is present. An edge leaves with that one.
  std::deque<PendingExpiry> insertions_;
  std::unordered_map<std::uint64_t, std::int64_t> last_insertion_;
  std::int64_t num_insertions_ = 0;
};

using ArcObserver = BasicArcObserver<DynamicGraph>;
using EventGraph = BasicEventGraph<DynamicGraph>;

template <typename Graph>
template <typename Observer>
arrow::Status BasicEventGraph<Graph>::Apply(const EdgeEvent& event, Observer& observer) {
  ExpireUntil(event.time, observer);
  const std::optional<Edge> edge = EdgeOf(event);
  if (!edge) return arrow::Status::OK();
  const ArcPlace place = graph_.FindArc(edge->src, edge->dst);
  const Effect effect = EffectOf(event.kind, place.present);
  if (effect == Effect::kError) return NoSuchEdge();
  if (options_.window > 0) {
    const std::uint64_t key = EdgeKey(edge->src, edge->dst);
    const bool there = place.present != (effect == Effect::kChange);
    if (there)
      insertions_.push_back({edge->src, edge->dst, event.time, ++num_insertions_});
    if (there) last_insertion_[key] = num_insertions_;
    if (!there) last_insertion_.erase(key);
  }
  if (effect == Effect::kChange) ToggleEdge(place, observer);
  return arrow::Status::OK();
}

template <typename Graph>
auto BasicEventGraph<Graph>::EdgeOf(const EdgeEvent& event) -> std::optional<Edge> {
  const auto [low, high] = std::minmax(event.src, event.dst);
  graph_.Grow(high + 1);
  if (low == high && !options_.self_loops) {
    ++counts_.self_loops;
    return std::nullopt;
  }
  return options_.directed ? Edge{event.src, event.dst} : Edge{low, high};
}

template <typename Graph>
auto BasicEventGraph<Graph>::EffectOf(EventKind kind, bool present) -> Effect {
  const bool inserts = kind == EventKind::kInsert;
  if (kind == EventKind::kToggle || inserts != present) return Effect::kChange;
  if (!inserts && !options_.lenient) return Effect::kError;
  ++(inserts ? counts_.repeated : counts_.missing_deletions);
  return Effect::kNothing;
}

template <typename Graph>
template <typename Observer>
void BasicEventGraph<Graph>::ExpireUntil(EventTime time, Observer& observer) {
  while (!insertions_.empty() && insertions_.front().time <= time - options_.window) {
    const PendingExpiry oldest = insertions_.front();
    insertions_.pop_front();
    const auto last = last_insertion_.find(EdgeKey(oldest.src, oldest.dst));
    if (last == last_insertion_.end() || last->second != oldest.number) continue;
    last_insertion_.erase(last);
    ToggleEdge(graph_.FindArc(oldest.src, oldest.dst), observer);
    ++counts_.expired;
  }
}

template <typename Graph>
template <typename Observer>
void BasicEventGraph<Graph>::ToggleEdge(const ArcPlace& place, Observer& observer) {
  ToggleArc(place, observer);
  if (!options_.directed && place.src != place.dst) {
    ToggleArc(graph_.Reverse(place), observer);
  }
  num_edges_ += place.present ? -1 : 1;
  if (record_ != nullptr) record_->Add(place.src, place.dst, !place.present);
}

template <typename Graph>
template <typename Observer>
void BasicEventGraph<Graph>::ToggleArc(const ArcPlace& place, Observer& observer) {
  observer.BeforeChange(graph_, place.src);
  graph_.Toggle(place);
  observer.AfterChange(graph_, place.src);
}

}  // namespace coden
