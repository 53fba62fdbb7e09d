#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>
#include <arrow/util/key_value_metadata.h>

#include "coden/settings/snapshot_options.h"
#include "coden/store/file_record.h"
#include "coden/store/run_store.h"

namespace coden {

struct ParquetFileOptions {
  SnapshotCompression compression = SnapshotCompression::kZstd;
  std::int64_t row_group_rows = 1 << 18;
  std::shared_ptr<const arrow::KeyValueMetadata> metadata;
};

/// Write one Parquet file by streaming, so that it appears whole or not at all. Page
/// checksums are on; float32 and float64 are byte-stream-split, float16 is plain. Equal
/// batches give equal bytes. Destroying the writer before Close leaves nothing.
class ParquetFileWriter {
 public:
  /// Write a file of a run into its stage, to be committed as `name`; the record says
  /// where it waits.
  static arrow::Result<std::unique_ptr<ParquetFileWriter>> Stage(
      RunStore& store, std::string_view name,
      const std::shared_ptr<arrow::Schema>& schema,
      const ParquetFileOptions& options = {});

  /// Write a local file that belongs to no run: to `stage_path` first, which Close syncs
  /// and renames to `path`, on the same filesystem.
  static arrow::Result<std::unique_ptr<ParquetFileWriter>> Open(
      const std::string& path, const std::string& stage_path,
      const std::shared_ptr<arrow::Schema>& schema,
      const ParquetFileOptions& options = {});
  virtual ~ParquetFileWriter() = default;

  /// Rows wait until they fill a row group, so the memory of `batch` must not change
  /// before Close.
  virtual arrow::Status Write(const arrow::RecordBatch& batch) = 0;
  /// The record's path is `name` or `path`.
  virtual arrow::Result<FileRecord> Close() = 0;
};

/// Write all rows of a file of the run to `writer`, a row group at a time: a longer file
/// of the same schema begins with them.
arrow::Status CopyParquetRows(const RunStore& store, std::string_view name,
                              ParquetFileWriter& writer);

/// Write `batch` as one file of a run; see ParquetFileWriter::Stage.
arrow::Result<FileRecord> StageParquetFile(RunStore& store, std::string_view name,
                                           const arrow::RecordBatch& batch,
                                           const ParquetFileOptions& options = {});

/// Write `batch` as one local file; see ParquetFileWriter::Open.
arrow::Result<FileRecord> WriteParquetFile(const std::string& path,
                                           const std::string& stage_path,
                                           const arrow::RecordBatch& batch,
                                           const ParquetFileOptions& options = {});

/// Read a file this tool wrote, verifying page checksums. `columns` empty reads all. A
/// file that is missing or damaged is a corruption error, which calls it `shown`.
arrow::Result<std::shared_ptr<arrow::Table>> ReadParquetFile(
    std::shared_ptr<arrow::io::RandomAccessFile> file, const std::string& shown,
    const std::vector<std::string>& columns = {});
/// The same for a file that a manifest names, also while its commit is being finished.
arrow::Result<std::shared_ptr<arrow::Table>> ReadParquetFile(
    const RunStore& store, const FileRecord& record,
    const std::vector<std::string>& columns = {});
/// The row groups of the same file, one after another.
class ParquetRowGroups {
 public:
  static arrow::Result<std::unique_ptr<ParquetRowGroups>> Open(
      const RunStore& store, const FileRecord& record,
      const std::vector<std::string>& columns = {});
  virtual ~ParquetRowGroups() = default;
  /// The next one; null after the last.
  virtual arrow::Result<std::shared_ptr<arrow::Table>> Next() = 0;
};
/// Hand the same file to `visit` a row group at a time: what does not fit in memory. An
/// error that `visit` returns ends it.
arrow::Status VisitParquetFile(
    const RunStore& store, const FileRecord& record,
    const std::vector<std::string>& columns,
    const std::function<arrow::Status(const arrow::Table&)>& visit);
/// As ReadParquetFile, of a file of a run, at its place.
arrow::Result<std::shared_ptr<arrow::Table>> ReadParquetFile(
    const RunStore& store, std::string_view name,
    const std::vector<std::string>& columns = {});
/// The same for a local path.
arrow::Result<std::shared_ptr<arrow::Table>> ReadParquetFile(
    const std::string& path, const std::vector<std::string>& columns = {});

}  // namespace coden
