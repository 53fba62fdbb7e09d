#include "coden/graph/event_graph.h"

#include <algorithm>

#include "coden/pipeline/error.h"

namespace coden {

namespace {

std::uint64_t EdgeKey(NodeId src, NodeId dst) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(src)) << 32 |
         static_cast<std::uint32_t>(dst);
}

}  // namespace

arrow::Status EventGraph::Apply(const EdgeEvent& event, ArcObserver& observer) {
  ExpireUntil(event.time, observer);
  NodeId src = event.src;
  NodeId dst = event.dst;
  graph_.Grow(std::max(src, dst) + 1);
  if (src == dst && !options_.self_loops) {
    ++counts_.self_loops;
    return arrow::Status::OK();
  }
  // An undirected edge has one name, whichever end the log puts first.
  if (!options_.directed && src > dst) std::swap(src, dst);

  const DynamicGraph::ArcPlace place = graph_.FindArc(src, dst);
  const bool present = place.present;
  EventKind kind = event.kind;
  if (kind == EventKind::kToggle)
    kind = present ? EventKind::kDelete : EventKind::kInsert;
  if (kind == EventKind::kInsert) {
    if (options_.window > 0) {
      insertions_.push_back({src, dst, event.time, ++num_insertions_});
      last_insertion_[EdgeKey(src, dst)] = num_insertions_;
    }
    if (present) {
      ++counts_.repeated;
    } else {
      ToggleEdge(place, observer);
    }
  } else if (present) {
    if (options_.window > 0) last_insertion_.erase(EdgeKey(src, dst));
    ToggleEdge(place, observer);
  } else if (options_.lenient) {
    ++counts_.missing_deletions;
  } else {
    return InputError(
        "the row deletes an edge that is not there; set `graph.lenient = true` to skip "
        "and count such rows");
  }
  return arrow::Status::OK();
}

void EventGraph::ExpireUntil(EventTime time, ArcObserver& observer) {
  while (!insertions_.empty() && insertions_.front().time <= time - options_.window) {
    const Insertion oldest = insertions_.front();
    insertions_.pop_front();
    const auto last = last_insertion_.find(EdgeKey(oldest.src, oldest.dst));
    if (last == last_insertion_.end() || last->second != oldest.number) continue;
    last_insertion_.erase(last);
    ToggleEdge(graph_.FindArc(oldest.src, oldest.dst), observer);
    ++counts_.expired;
  }
}

void EventGraph::ToggleEdge(const DynamicGraph::ArcPlace& place, ArcObserver& observer) {
  ToggleArc(place, observer);
  if (!options_.directed && place.src != place.dst) {
    ToggleArc(graph_.FindArc(place.dst, place.src), observer);
  }
  num_edges_ += place.present ? -1 : 1;
}

void EventGraph::ToggleArc(const DynamicGraph::ArcPlace& place, ArcObserver& observer) {
  observer.BeforeChange(graph_, place.src);
  graph_.Toggle(place);
  observer.AfterChange(graph_, place.src);
}

}  // namespace coden
