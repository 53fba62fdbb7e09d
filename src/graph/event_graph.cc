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

  const bool present = graph_.HasArc(src, dst);
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
      Insert(src, dst, observer);
    }
  } else if (present) {
    if (options_.window > 0) last_insertion_.erase(EdgeKey(src, dst));
    Erase(src, dst, observer);
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
    Erase(oldest.src, oldest.dst, observer);
    ++counts_.expired;
  }
}

void EventGraph::Insert(NodeId src, NodeId dst, ArcObserver& observer) {
  const auto insert = [this](NodeId from, NodeId to) { graph_.InsertArc(from, to); };
  ChangeArc(src, dst, observer, insert);
  if (!options_.directed && src != dst) ChangeArc(dst, src, observer, insert);
  ++num_edges_;
}

void EventGraph::Erase(NodeId src, NodeId dst, ArcObserver& observer) {
  const auto erase = [this](NodeId from, NodeId to) { graph_.EraseArc(from, to); };
  ChangeArc(src, dst, observer, erase);
  if (!options_.directed && src != dst) ChangeArc(dst, src, observer, erase);
  --num_edges_;
}

template <typename Change>
void EventGraph::ChangeArc(NodeId src, NodeId dst, ArcObserver& observer, Change change) {
  observer.BeforeChange(graph_, src);
  change(src, dst);
  observer.AfterChange(graph_, src);
}

}  // namespace coden
