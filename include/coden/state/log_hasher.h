#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coden/base/operator.h"
#include "coden/read/event_batch.h"
#include "coden/store/hasher.h"

namespace coden {

/// A stage of the schedule pass that lets events through and hashes them, so that a later
/// run can tell whether rows it has used before are still what they were. Punctuation
/// does not count. Nodes count by their numbers, which follow from the ids and their
/// order.
class LogHasher : public Operator {
 public:
  /// Rows of the log that came through, from the first to the last of them.
  struct Piece {
    std::int64_t first_row = 0;
    std::int64_t end_row = 0;  ///< after the last
    std::int64_t num_events = 0;
    std::string digest;
  };

  /// A piece ends before each of these rows, which rise: where files begin.
  explicit LogHasher(std::vector<std::int64_t> cuts = {});

  /// What came through, without pieces that have no event. Afterwards it is empty.
  std::vector<Piece> TakePieces();

  std::string_view name() const override { return "hash"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override { return input; }
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit&) override { return arrow::Status::OK(); }

 private:
  void Add(const EventView& events, std::int64_t begin, std::int64_t end);
  void EndPiece();

  std::vector<std::int64_t> cuts_;
  std::size_t next_cut_ = 0;
  // One for each column, so that the digest does not depend on where batches are cut.
  Hasher src_;
  Hasher dst_;
  Hasher time_;
  Hasher kind_;
  Piece open_;
  std::vector<Piece> pieces_;
};

}  // namespace coden
