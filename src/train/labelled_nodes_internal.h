#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>

#include "coden/read/labels.h"
#include "coden/store/run_store.h"
#include "train/training_input_internal.h"

namespace coden {

/// The labelled nodes that training knows, in the order of the labels file.
struct LabelledNodes {
  Labels labels;
  std::vector<NodeId> known;            ///< as labels.nodes numbers them
  std::shared_ptr<arrow::Array> ids;    ///< of `known`
  std::vector<LabelFact> facts;         ///< of `known`, by node, then time
  std::vector<EventTime> first_events;  ///< kNeverSeen where a node has none

  std::int64_t size() const { return static_cast<std::int64_t>(known.size()); }

  /// Write the place in `known` of every id, or kNoNode.
  arrow::Status Find(const arrow::Array& node_ids, std::vector<NodeId>* out) const;

  std::vector<NodeId> places;  ///< from labels.nodes to `known`, or kNoNode
};

/// Choose those that are in a snapshot, whose nodes are `in_snapshot`. A node that is in
/// some snapshot is in all later ones, so the last one that is used tells.
arrow::Result<LabelledNodes> FindLabelledNodes(Labels labels, const RunStore& store,
                                               const arrow::Array& in_snapshot);

}  // namespace coden
