#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace coden {

/// What became of the rows of the inputs, over all calls that have made a part of a run.
/// No value: the part does not read that input.
///
/// Every row of the log is counted once: rows_before, rows_read or rows_after; and every
/// row that was read is used, or one of rows_late and rows_unused.
struct InputCounts {
  using Count = std::optional<std::int64_t>;

  Count rows_read;
  Count rows_before;
  Count rows_after;
  Count rows_late;
  Count rows_unused;
  Count self_loops;
  Count repeated_edges;
  Count absent_deletions;
  Count expired_edges;
  Count nodes_without_features;
  Count feature_rows;
  Count feature_rows_unmatched;
  Count update_rows;
  Count update_rows_unmatched;
  Count label_rows;
  Count label_rows_unmatched;
  Count split_rows;
  Count split_rows_unmatched;

  bool operator==(const InputCounts&) const = default;
};

/// One count: its key in manifests and machine output, and its name for people.
struct InputCountField {
  enum class Told {
    kSilently,  ///< in machine output and the report alone
    kNote,
    kWarning,  ///< rows were dropped
  };
  std::string_view key;
  std::string_view text;  ///< follows the number: "5 self loops: dropped"
  Told told;              ///< how a run says so where it is above 0
  InputCounts::Count InputCounts::* value;
};

/// All counts, in the order of InputCounts.
std::span<const InputCountField> InputCountFields();

}  // namespace coden
