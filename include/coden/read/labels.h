#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/graph/node_id_map.h"
#include "coden/settings/input_options.h"

namespace coden {

/// The label of one node from a time on.
struct LabelEntry {
  NodeId node = kNoNode;   ///< index into Labels::nodes, not into a graph
  std::int32_t label = 0;  ///< index into Labels::classes
  EventTime time = 0;      ///< from when it is valid; kAlways without a time column
};

/// All labels of a run. Nodes are numbered among themselves, so reading labels needs no
/// graph.
struct Labels {
  static constexpr EventTime kAlways = INT64_MIN;

  std::unique_ptr<NodeIdMap> nodes;
  std::shared_ptr<arrow::Array> classes;   ///< the user's class values, sorted
  std::vector<LabelEntry> entries;         ///< sorted by node, then time
  bool timed = false;                      ///< the file has a time column
  std::vector<std::string> other_columns;  ///< of the file, which are not read

  /// Return for every labelled node the label valid at `time` (the latest at or before
  /// it), -1 where there is none yet.
  std::vector<std::int32_t> At(EventTime time) const;
};

/// Read `input.labels`: the node column, the label column (integers or strings) and,
/// where there is one, the time column.
arrow::Result<Labels> ReadLabels(const InputOptions& input);

/// Read `input.split` as labels: the node column, and the column `split` as classes.
arrow::Result<Labels> ReadSplitRows(const InputOptions& input);

/// An error where a class of `split`, read from `path`, is not train, validate or test.
arrow::Status CheckSplitValues(const Labels& split, const std::string& path);

}  // namespace coden
