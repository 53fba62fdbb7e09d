#include "read/parquet_footers_internal.h"

#include <algorithm>
#include <exception>

#include <arrow/dataset/scanner.h>
#include <arrow/util/future.h>

#include "store/parquet_limits_internal.h"

namespace coden {

namespace {

// Enough to hide the latency of a store, few enough not to run out of file handles.
constexpr std::size_t kFilesAtOnce = 32;

}  // namespace

arrow::Status ReadFooters(
    const arrow::dataset::ParquetFileFormat& format,
    const std::vector<arrow::dataset::FileSource>& sources,
    const std::function<arrow::Status(std::size_t, parquet::arrow::FileReader&)>& visit,
    const std::function<arrow::Status(std::size_t, const arrow::Status&)>& fail) {
  const auto options = std::make_shared<arrow::dataset::ScanOptions>();
  options->pool = UntrustedPool();
  for (std::size_t begin = 0; begin < sources.size(); begin += kFilesAtOnce) {
    const std::size_t end = std::min(begin + kFilesAtOnce, sources.size());
    std::vector<arrow::Future<std::shared_ptr<parquet::arrow::FileReader>>> readers;
    for (std::size_t i = begin; i < end; ++i) {
      readers.push_back(format.GetReaderAsync(sources[i], options));
    }
    for (std::size_t i = begin; i < end; ++i) {
      auto reader = readers[i - begin].MoveResult();
      if (!reader.ok()) return fail(i, reader.status());
      arrow::Status visited;
      // Parquet reports a damaged footer by throwing; the fence is here.
      try {
        visited = visit(i, **reader);
      } catch (const std::exception& exception) {
        visited = arrow::Status::Invalid(exception.what());
      }
      if (!visited.ok()) return fail(i, visited);
    }
  }
  return arrow::Status::OK();
}

}  // namespace coden
