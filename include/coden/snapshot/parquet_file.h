#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>
#include <arrow/util/key_value_metadata.h>

#include "coden/snapshot/snapshot_options.h"

namespace coden {

/// What a manifest says of a file.
struct FileRecord {
  std::string path;  ///< relative to the run directory
  std::int64_t size = 0;
  std::int64_t rows = 0;
  std::string xxh3;  ///< of the whole file, 16 hexadecimal digits
};

struct ParquetFileOptions {
  SnapshotCompression compression = SnapshotCompression::kZstd;
  std::int64_t row_group_rows = 1 << 18;
  std::shared_ptr<const arrow::KeyValueMetadata> metadata;
};

/// Write one Parquet file by streaming, so that it appears whole or not at all.
///
/// Rows go to `stage_path`; Close syncs that file to disk and renames it to `path`, on
/// the same filesystem. Destroying the writer before Close removes the staged file. Page
/// checksums are on and floats are byte-stream-split. Equal batches give equal bytes.
class ParquetFileWriter {
 public:
  static arrow::Result<std::unique_ptr<ParquetFileWriter>> Open(
      std::string path, std::string stage_path,
      const std::shared_ptr<arrow::Schema>& schema,
      const ParquetFileOptions& options = {});
  virtual ~ParquetFileWriter() = default;

  /// Rows wait until they fill a row group, so the memory of `batch` must not change
  /// before Close.
  virtual arrow::Status Write(const arrow::RecordBatch& batch) = 0;
  /// The record's path is `path`.
  virtual arrow::Result<FileRecord> Close() = 0;
};

/// Write `batch` as one file; see ParquetFileWriter.
arrow::Result<FileRecord> WriteParquetFile(std::string path, std::string stage_path,
                                           const arrow::RecordBatch& batch,
                                           const ParquetFileOptions& options = {});

/// Read a file this tool wrote, verifying page checksums. `columns` empty reads all. A
/// file that is missing or damaged is a corruption error.
arrow::Result<std::shared_ptr<arrow::Table>> ReadParquetFile(
    const std::string& path, const std::vector<std::string>& columns = {});

}  // namespace coden
