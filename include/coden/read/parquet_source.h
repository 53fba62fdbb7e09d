#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/io/type_fwd.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace coden {

/// One Parquet input: a file, a directory, a glob or a URI. Files are read in path order.
///
/// Opening reads footers only. Scan streams: at any time only a few record batches are in
/// memory, whatever the size of the input. Page checksums are verified where a file has
/// them.
class ParquetSource {
 public:
  static arrow::Result<std::unique_ptr<ParquetSource>> Open(const std::string& path);
  virtual ~ParquetSource() = default;

  virtual const std::string& path() const = 0;
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;

  /// Count the rows from the footers.
  virtual arrow::Result<std::int64_t> CountRows() const = 0;

  /// Stream the columns called `columns`, in row order, in batches of at most
  /// `batch_rows`.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
      const std::vector<std::string>& columns, std::int64_t batch_rows) const = 0;

  /// One file of the input, in reading order.
  struct File {
    std::string path;
    std::int64_t size = 0;
  };
  virtual const std::vector<File>& files() const = 0;

  /// Open one of files() for reading its bytes.
  virtual arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenFile(
      const File& file) const = 0;
};

}  // namespace coden
