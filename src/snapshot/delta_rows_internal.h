#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <arrow/array.h>

#include "coden/base/types.h"

namespace coden {

/// Some rows of a snapshot: nodes, and their embeddings row by row.
struct NodeRows {
  std::vector<NodeId> nodes;
  std::shared_ptr<arrow::FloatArray> numbers;
};

/// Decide which rows of every snapshot are written: those that have moved since the last
/// full snapshot, the base, and those of nodes that the base does not have.
///
/// What is decided depends on the numbers of the snapshots alone, not on how their rows
/// are cut. Holds the numbers of the base and of the open snapshot, and copies neither.
class DeltaRows {
 public:
  /// A row has moved when one of its `width` numbers differs by more than `threshold`. At
  /// least one in `full_every` snapshots is full.
  DeltaRows(double threshold, int full_every, int width)
      : threshold_(threshold), full_every_(full_every), width_(width) {
    Open();
  }

  /// Go on from the full snapshot `snapshot`, before any row is added.
  void SetBase(int snapshot, NodeRows rows);

  /// Take more rows of the open snapshot, which come in an order of nodes that is the
  /// same for all snapshots.
  void Add(NodeRows rows);

  struct Choice {
    int base = 0;                ///< its own number: the snapshot is full
    std::vector<bool> written;   ///< by row, in the order they were added
    std::vector<double> missed;  ///< by column: sum of what rows left out have moved
  };
  /// Choose the rows of the open snapshot, which is number `snapshot`, and open the next.
  Choice Close(int snapshot);

 private:
  // Where a base is read, row by row.
  struct Cursor {
    std::size_t chunk = 0;
    std::size_t row = 0;
  };

  void Open();
  /// The base's embedding of `node` where that is its next row, which is then passed.
  const float* NextOfBase(NodeId node);
  /// Whether any base row has not been passed.
  bool BaseIsLeft() const;

  double threshold_;
  int full_every_;
  int width_;
  std::optional<int> base_;
  std::vector<NodeRows> base_rows_;  // none of them empty
  Cursor cursor_;
  std::vector<NodeRows> open_rows_;
  std::vector<bool> moved_;  // of the open snapshot, by row
  std::int64_t num_moved_ = 0;
  std::vector<double> missed_;
};

}  // namespace coden
