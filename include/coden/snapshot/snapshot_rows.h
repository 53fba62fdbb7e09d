#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <arrow/array.h>
#include <arrow/result.h>

#include "coden/sample/schedule.h"
#include "coden/store/run_store.h"

namespace coden {

/// Rows of a snapshot, whichever layout and precision its file has.
class SnapshotRows {
 public:
  /// Read one file and check that every row has a node and an embedding of one length.
  /// Of a snapshot that is not full these are only the rows its file holds.
  static arrow::Result<SnapshotRows> Read(const RunStore& store, const std::string& name);

  /// Rows that are in memory: `num_channels` of `numbers` for each of `nodes`.
  static SnapshotRows Make(std::shared_ptr<arrow::Array> nodes,
                           std::shared_ptr<arrow::FloatArray> numbers,
                           std::int64_t num_channels) {
    SnapshotRows rows;
    rows.nodes_ = std::move(nodes);
    rows.numbers_ = std::move(numbers);
    rows.num_channels_ = num_channels;
    return rows;
  }

  std::int64_t num_rows() const { return nodes_->length(); }
  /// 0 for a file of lists that has no rows.
  std::int64_t num_channels() const { return num_channels_; }
  const std::shared_ptr<arrow::Array>& nodes() const { return nodes_; }
  /// The embeddings, row by row.
  const std::shared_ptr<arrow::FloatArray>& numbers() const { return numbers_; }
  std::span<const float> row(std::int64_t row) const {
    return {numbers_->raw_values() + row * num_channels_,
            static_cast<std::size_t>(num_channels_)};
  }

  /// These rows, replaced by those of `own` with the same node; rows of nodes that only
  /// `own` has come behind, in its order. Both have the same type of ids and, where they
  /// have rows, as many channels.
  arrow::Result<SnapshotRows> LaidUnder(const SnapshotRows& own) const;

 private:
  std::shared_ptr<arrow::Array> nodes_;
  std::shared_ptr<arrow::FloatArray> numbers_;
  std::int64_t num_channels_ = 0;
};

class SnapshotCache;

/// Read whole snapshots, put together with those they rest on. Going through them in
/// order reads every file once.
class SnapshotReader {
 public:
  /// Rows that `cache` has are taken from there. Both must outlive the reader.
  explicit SnapshotReader(const RunStore& store, const SnapshotCache* cache = nullptr)
      : store_(store), cache_(cache) {}

  /// The rows of a snapshot that is written, with `num_channels` numbers each unless that
  /// is 0.
  arrow::Result<SnapshotRows> Read(const SchedulePoint& point,
                                   std::int64_t num_channels = 0);

 private:
  const RunStore& store_;
  const SnapshotCache* cache_;
  std::optional<int> base_;  // the full snapshot that is held
  SnapshotRows base_rows_;
};

}  // namespace coden
