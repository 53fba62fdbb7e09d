// The files every generator writes, row by row into buffers of fixed size, so that memory
// does not grow with a file. Files appear under their names only when closed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/operator.h"
#include "coden/base/progress.h"
#include "coden/base/types.h"
#include "coden/store/parquet_file.h"

namespace coden::generate {

using Metadata = std::shared_ptr<const arrow::KeyValueMetadata>;

inline constexpr std::size_t kBatchRows = 1 << 16;

/// Open directory/name for writing; until it is closed the rows are in a hidden file.
arrow::Result<std::unique_ptr<ParquetFileWriter>> OpenTable(
    const std::string& directory, const std::string& name, const SchemaPtr& schema,
    const Metadata& metadata,
    std::int64_t row_group_rows = ParquetFileOptions().row_group_rows);

/// edges.parquet: src, dst, time and, for a signed log, op.
class EdgeWriter {
 public:
  static arrow::Result<EdgeWriter> Open(const std::string& directory, bool with_op,
                                        const Metadata& metadata);

  arrow::Status Append(std::int64_t src, std::int64_t dst, EventTime time,
                       std::int8_t op = 1) {
    src_.push_back(src);
    dst_.push_back(dst);
    time_.push_back(time);
    if (with_op_) op_.push_back(op);
    return src_.size() < kBatchRows ? arrow::Status::OK() : Flush();
  }
  arrow::Result<FileRecord> Close();

 private:
  arrow::Status Flush();

  SchemaPtr schema_;
  std::unique_ptr<ParquetFileWriter> writer_;
  bool with_op_ = false;
  std::vector<std::int64_t> src_;
  std::vector<std::int64_t> dst_;
  std::vector<EventTime> time_;
  std::vector<std::int8_t> op_;
};

/// labels.parquet: node, label, time.
class LabelWriter {
 public:
  static arrow::Result<LabelWriter> Open(const std::string& directory,
                                         const Metadata& metadata);

  arrow::Status Append(std::int64_t node, std::int32_t label, EventTime time) {
    node_.push_back(node);
    label_.push_back(label);
    time_.push_back(time);
    return node_.size() < kBatchRows ? arrow::Status::OK() : Flush();
  }
  arrow::Result<FileRecord> Close();

 private:
  arrow::Status Flush();

  SchemaPtr schema_;
  std::unique_ptr<ParquetFileWriter> writer_;
  std::vector<std::int64_t> node_;
  std::vector<std::int32_t> label_;
  std::vector<EventTime> time_;
};

/// Fill `x` with the features of `node`.
using FillFeatures = std::function<void(std::int64_t node, std::span<float> x)>;

/// Write the rows of features.parquet: node, x. The caller closes the writer.
arrow::Result<std::unique_ptr<ParquetFileWriter>> WriteFeatures(
    const std::string& directory, std::int64_t num_nodes, int num_features,
    const FillFeatures& fill, const Metadata& metadata, const RunContext& context);

}  // namespace coden::generate
