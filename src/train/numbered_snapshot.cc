#include "train/numbered_snapshot_internal.h"

#include <utility>

#include "coden/base/error.h"

namespace coden {

arrow::Result<NumberedSnapshot> NumberedSnapshot::Make(SnapshotRows rows,
                                                       const NodeIdMap& nodes,
                                                       int snapshot) {
  NumberedSnapshot numbered;
  numbered.rows = std::move(rows);
  ARROW_RETURN_NOT_OK(nodes.Find(*numbered.rows.nodes(), &numbered.nodes));
  numbered.row_of.assign(static_cast<std::size_t>(nodes.size()), -1);
  for (std::size_t row = 0; row < numbered.nodes.size(); ++row) {
    if (numbered.nodes[row] == kNoNode) {
      return CorruptionError("snapshot ", snapshot,
                             " has a node that the run does not know; rebuild the run "
                             "with `coden run --force`: row ",
                             row);
    }
    numbered.row_of[numbered.nodes[row]] = static_cast<std::int32_t>(row);
  }
  return numbered;
}

}  // namespace coden
