#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "coden/store/run_store.h"

namespace coden {

/// The rows of one snapshot file, whichever of the three layouts it has.
class SnapshotRows {
 public:
  /// Read the file and check that every row has a node and an embedding of one length.
  static arrow::Result<SnapshotRows> Read(const RunStore& store, const std::string& name);

  std::int64_t num_rows() const { return nodes_->length(); }
  /// 0 for a file of lists that has no rows.
  std::int64_t num_channels() const { return num_channels_; }
  const std::shared_ptr<arrow::Array>& nodes() const { return nodes_; }

  /// Write the row scaled to length 1 (L2) to `out`; a row of zeros stays one. Returns
  /// whether all its numbers are finite.
  bool CopyNormalised(std::int64_t row, float* out) const;

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;  // keeps what the pointers below point to
  std::shared_ptr<arrow::Array> nodes_;
  std::int64_t num_channels_ = 0;
  std::int64_t row_stride_ = 0;         // between rows, in floats
  std::vector<const float*> channels_;  // row 0 of every channel
};

}  // namespace coden
