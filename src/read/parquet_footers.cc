#include "read/parquet_footers_internal.h"

#include <algorithm>
#include <exception>

#include <arrow/dataset/scanner.h>
#include <arrow/type.h>
#include <arrow/util/future.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

namespace coden {

namespace {

using parquet::arrow::FileReader;

// Enough to hide the latency of a store, few enough not to run out of file handles.
constexpr std::size_t kFilesAtOnce = 32;

arrow::Result<Footer> Summarise(FileReader& reader) {
  Footer footer;
  ARROW_RETURN_NOT_OK(reader.GetSchema(&footer.schema));
  // Parquet reports a damaged footer by throwing; the fence is here.
  try {
    const auto metadata = reader.parquet_reader()->metadata();
    for (int i = 0; i < metadata->num_row_groups(); ++i) {
      const std::int64_t rows = metadata->RowGroup(i)->num_rows();
      if (rows < 0) return arrow::Status::Invalid("a row group has fewer than no rows");
      footer.group_rows.push_back(rows);
    }
  } catch (const std::exception& exception) {
    return arrow::Status::Invalid(exception.what());
  }
  return footer;
}

}  // namespace

arrow::Status ReadFooters(
    const arrow::dataset::ParquetFileFormat& format,
    const std::vector<arrow::dataset::FileSource>& sources,
    const std::function<arrow::Status(std::size_t, Footer)>& take,
    const std::function<arrow::Status(std::size_t, const arrow::Status&)>& fail) {
  const auto options = std::make_shared<arrow::dataset::ScanOptions>();
  for (std::size_t begin = 0; begin < sources.size(); begin += kFilesAtOnce) {
    const std::size_t end = std::min(begin + kFilesAtOnce, sources.size());
    std::vector<arrow::Future<std::shared_ptr<FileReader>>> readers;
    for (std::size_t i = begin; i < end; ++i) {
      readers.push_back(format.GetReaderAsync(sources[i], options));
    }
    for (std::size_t i = begin; i < end; ++i) {
      auto reader = readers[i - begin].MoveResult();
      if (!reader.ok()) return fail(i, reader.status());
      auto footer = Summarise(**reader);
      if (!footer.ok()) return fail(i, footer.status());
      ARROW_RETURN_NOT_OK(take(i, *std::move(footer)));
    }
  }
  return arrow::Status::OK();
}

}  // namespace coden
