#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coden/graph/node_id_map.h"
#include "coden/read/labels.h"

namespace coden {

/// The nodes of the edge log: those with an edge in the rows that a run uses.
struct LogNodes {
  std::int64_t count = 0;
  std::vector<std::string> examples;  ///< the first two ids, as messages show them

  void Add(NodeId node, const NodeIdMap& nodes);
};

/// How many rows of an input (features, feature updates, labels, a split) name a node of
/// the edge log.
struct IdMatch {
  std::int64_t rows = 0;
  std::int64_t matched = 0;
  std::vector<std::string> examples;  ///< the first two ids that are not in the log

  std::int64_t unmatched() const { return rows - matched; }

  /// Count `num_rows` rows that name `node`.
  void Add(NodeId node, std::int64_t num_rows, bool in_log, const NodeIdMap& nodes);

  /// Why the input must be refused: it has rows, and none names a node of the log.
  std::optional<std::string> Refusal(const LogNodes& log) const;
  /// What to say where less than half of the rows name a node of the log.
  std::optional<std::string> Warning(std::string_view input) const;
};

/// Match the rows of `labels`: `in_log` says which of its nodes are in the log.
IdMatch MatchLabels(const Labels& labels, const std::vector<bool>& in_log);

/// Show an id so that blanks at its ends and characters that cannot be seen are visible:
/// strings in quotes, invisible characters as \u{a0}.
std::string ShowId(NodeId node, const NodeIdMap& nodes);

}  // namespace coden
