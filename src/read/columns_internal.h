// Turn columns of many types into the few that the tool computes with, and check the
// rules for single values. Every function reports each breach; where the caller goes on
// after one, the rows in question hold nothing of use.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>
#include <tsl/robin_set.h>

#include "coden/base/types.h"
#include "coden/graph/node_id_map.h"
#include "read/rules_internal.h"

namespace coden {

/// Read node ids or classes as `id_type` (NodeIdMap::IdType). Rule: no nulls.
arrow::Result<std::shared_ptr<arrow::Array>> ReadIds(
    const std::shared_ptr<arrow::Array>& array,
    const std::shared_ptr<arrow::DataType>& id_type, const ColumnPlace& place);

/// Whether a column of `type` can be a class: ids can, and so can booleans and floating
/// point numbers, which other programs write for whole ones.
bool IsClassType(const arrow::DataType& type);

/// Read classes: as ids where they can be ids, otherwise as int64. Rules: no nulls, only
/// whole numbers.
arrow::Result<std::shared_ptr<arrow::Array>> ReadClasses(
    const std::shared_ptr<arrow::Array>& array,
    const std::shared_ptr<arrow::DataType>& id_type, const ColumnPlace& place);

/// Read times as int64, in the unit of the column. Rules: no nulls, none negative.
arrow::Result<std::shared_ptr<arrow::Int64Array>> ReadTimes(
    const std::shared_ptr<arrow::Array>& array, const ColumnPlace& place);

/// Read the `op` column: true for an insertion, false for a deletion. Rules: no nulls,
/// only the values the schema names.
arrow::Result<std::vector<bool>> ReadOps(const std::shared_ptr<arrow::Array>& array,
                                         const ColumnPlace& place);

/// Rule: a time is not before the row above. Keeps the last time between arrays; rows
/// that are null or negative do not count.
class RisingTimes {
 public:
  arrow::Status Check(const arrow::Int64Array& times, const ColumnPlace& place);

 private:
  EventTime last_ = 0;
};

/// Rule: a features file has one row per node. Rows with kNoNode do not count.
class OneRowPerNode {
 public:
  arrow::Status Check(std::span<const NodeId> rows, const NodeIdMap& nodes,
                      const ColumnPlace& place);
  bool Has(NodeId node) const {
    return static_cast<std::size_t>(node) < seen_.size() && seen_[node];
  }

 private:
  std::vector<bool> seen_;
};

/// Rule: a labels file has one row per node and time. Memory grows with the rows.
class OneLabelPerTime {
 public:
  arrow::Status Check(NodeId node, EventTime time, std::int64_t row,
                      const NodeIdMap& nodes, const ColumnPlace& place);

 private:
  struct Hash {
    std::size_t operator()(const std::pair<NodeId, EventTime>& key) const;
  };
  tsl::robin_set<std::pair<NodeId, EventTime>, Hash> seen_;
};

}  // namespace coden
