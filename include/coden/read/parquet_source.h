#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <arrow/io/type_fwd.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace parquet {
class FileMetaData;
}

namespace coden {

/// One Parquet input: a file, a directory, a glob or a URI. Files are read in path order,
/// where folders such as day=2 and day=10 go by their number. Such a folder below the one
/// that the path names is a column of the files in it that have none called so.
///
/// Opening reads footers only. Scan streams: at any time only a few record batches are in
/// memory, whatever the size of the input. Page checksums are verified where a file has
/// them.
class ParquetSource {
 public:
  static constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();

  /// `known` are names of files (File::name) that come first, in this order: what an
  /// earlier run has read. The others follow in path order. A known name that is no
  /// longer there is passed over; files() tells.
  static arrow::Result<std::unique_ptr<ParquetSource>> Open(
      const std::string& path, const std::vector<std::string>& known = {});
  virtual ~ParquetSource() = default;

  virtual const std::string& path() const = 0;
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;

  /// Count the rows, as the footers tell them.
  virtual arrow::Result<std::int64_t> CountRows() const = 0;

  /// Stream the columns called `columns` of the rows from `first_row` up to, not
  /// including, `end_row`, in row order, in batches of at most `batch_rows`. Row groups
  /// and files without such a row are not read.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
      const std::vector<std::string>& columns, std::int64_t batch_rows,
      std::int64_t first_row = 0, std::int64_t end_row = kToTheEnd) const = 0;

  /// One file of the input, in reading order.
  struct File {
    /// Relative to the folder that the path names; for one file or a glob, to the folder
    /// it is in. Stays the same wherever the data is moved to.
    std::string name;
    std::string path;
    std::int64_t size = 0;
    std::int64_t modified = 0;  ///< nanoseconds since the epoch; 0 where unknown
    std::int64_t num_rows = 0;  ///< from the footer
  };
  virtual const std::vector<File>& files() const = 0;

  /// Where a row of the input stands.
  struct Place {
    const File* file;
    std::int64_t row;  ///< of the file, from 0
  };
  /// Find the file of `row`, which counts over all files.
  Place PlaceOf(std::int64_t row) const;

  /// Open one of files() for reading its bytes.
  virtual arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenFile(
      const File& file) const = 0;

  /// Read the footers again and call `visit` for each of files(), in order. What Parquet
  /// throws in `visit` becomes an error that names the file.
  virtual arrow::Status ForEachFooter(
      const std::function<arrow::Status(const parquet::FileMetaData&)>& visit) const = 0;
};

}  // namespace coden
