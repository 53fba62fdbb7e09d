// Read the footers of many files.
#pragma once

#include <functional>
#include <vector>

#include <arrow/dataset/file_parquet.h>
#include <arrow/status.h>
#include <parquet/arrow/reader.h>

namespace coden {

/// Open the files `sources`, some of them at a time, and call `visit(i, reader)` for each
/// in order; what Parquet throws there becomes a status. `fail(i, status)` names the file
/// of an error.
arrow::Status ReadFooters(
    const arrow::dataset::ParquetFileFormat& format,
    const std::vector<arrow::dataset::FileSource>& sources,
    const std::function<arrow::Status(std::size_t, parquet::arrow::FileReader&)>& visit,
    const std::function<arrow::Status(std::size_t, const arrow::Status&)>& fail);

}  // namespace coden
