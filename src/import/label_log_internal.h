#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>

#include "coden/base/operator.h"
#include "coden/graph/node_id_map.h"

namespace coden::importing {

/// The labels of nodes as coden reads them: from when each holds, and no two for one node
/// and time. A row that repeats what a node has is left out; of several rows for one node
/// and time the last one holds. Memory grows with the number of nodes.
class LabelLog {
 public:
  /// Ids and labels are int64 or utf8.
  static arrow::Result<LabelLog> Make(const std::shared_ptr<arrow::DataType>& id_type,
                                      const std::shared_ptr<arrow::DataType>& label_type);

  /// Take rows whose times (int64) do not fall, and return the rows (node, label, time)
  /// that are now certain; those of the last time wait.
  arrow::Result<BatchPtr> Push(const arrow::Array& nodes, const arrow::Array& labels,
                               const arrow::Array& times);
  /// What still waited.
  arrow::Result<BatchPtr> Finish();

  std::int64_t num_repeated() const { return num_repeated_; }
  std::int64_t num_replaced() const { return num_replaced_; }
  /// Whether no label but the whole number 0 was seen.
  arrow::Result<bool> AllZero() const;

 private:
  struct State {
    NodeId label = kNoNode;    // what holds
    NodeId waiting = kNoNode;  // what the rows of the current time say
  };

  void Settle();
  arrow::Result<BatchPtr> TakeRows();

  std::unique_ptr<NodeIdMap> nodes_;
  std::unique_ptr<NodeIdMap> labels_;
  std::vector<State> states_;
  std::vector<NodeId> touched_;  // nodes of the current time, in order
  EventTime time_ = 0;
  std::vector<NodeId> row_nodes_, row_labels_;
  std::vector<EventTime> row_times_;
  std::int64_t num_repeated_ = 0;
  std::int64_t num_replaced_ = 0;
};

}  // namespace coden::importing
