// What is kept of the footers of an input while it is open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <arrow/dataset/file_parquet.h>
#include <arrow/result.h>

namespace coden {

struct Footer {
  std::shared_ptr<arrow::Schema> schema;
  std::vector<std::int64_t> group_rows;  ///< rows of each row group
};

/// Read the footers of `sources`, some of them at a time. `take` is called for each in
/// order; `fail` names the file of an error.
arrow::Status ReadFooters(
    const arrow::dataset::ParquetFileFormat& format,
    const std::vector<arrow::dataset::FileSource>& sources,
    const std::function<arrow::Status(std::size_t, Footer)>& take,
    const std::function<arrow::Status(std::size_t, const arrow::Status&)>& fail);

}  // namespace coden
