#include "coden/store/parquet_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <set>

#include <arrow/io/file.h>
#include <arrow/table.h>
#include <arrow/util/io_util.h>
#include <arrow/util/macros.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include "coden/base/error.h"
#include "store/hashing_file_internal.h"
#include "store/parquet_limits_internal.h"

namespace coden {

namespace {

arrow::Compression::type CodecOf(SnapshotCompression compression) {
  switch (compression) {
    case SnapshotCompression::kZstd:
      return arrow::Compression::ZSTD;
    case SnapshotCompression::kSnappy:
      return arrow::Compression::SNAPPY;
    case SnapshotCompression::kNone:
      break;
  }
  return arrow::Compression::UNCOMPRESSED;
}

// Parquet's path of the leaf column below `field`: lists add two levels.
std::string LeafPath(const arrow::Field& field) {
  switch (field.type()->id()) {
    case arrow::Type::LIST:
    case arrow::Type::FIXED_SIZE_LIST:
      return field.name() + ".list.element";
    default:
      return field.name();
  }
}

const arrow::DataType& LeafType(const arrow::Field& field) {
  const auto& type = *field.type();
  return type.num_fields() == 1 ? *type.field(0)->type() : type;
}

std::shared_ptr<parquet::WriterProperties> WriterProperties(
    const arrow::Schema& schema, const ParquetFileOptions& options) {
  parquet::WriterProperties::Builder builder;
  builder.compression(CodecOf(options.compression))
      ->max_row_group_length(options.row_group_rows)
      ->enable_page_checksum();
  for (const auto& field : schema.fields()) {
    const std::string path = LeafPath(*field);
    switch (LeafType(*field).id()) {
      case arrow::Type::FLOAT:
      case arrow::Type::DOUBLE:
        builder.disable_dictionary(path)->disable_statistics(path)->encoding(
            path, parquet::Encoding::BYTE_STREAM_SPLIT);
        break;
      case arrow::Type::HALF_FLOAT:
        // Not split into byte streams: DuckDB refuses that for this type.
        builder.disable_dictionary(path)->disable_statistics(path)->encoding(
            path, parquet::Encoding::PLAIN);
        break;
      case arrow::Type::INT32:
      case arrow::Type::INT64:
        builder.disable_dictionary(path)->encoding(
            path, parquet::Encoding::DELTA_BINARY_PACKED);
        break;
      default:
        break;
    }
  }
  return builder.build();
}

// Batches wait, uncopied, until they fill a row group, which is then written column by
// column. Parquet's own buffering gives the same bytes, but keeps a second copy of the
// encoded pages.
class StreamingParquetFileWriter : public ParquetFileWriter {
 public:
  // What becomes of the file: `finish` once it is closed, `abandon` where it is not.
  struct Fate {
    std::function<arrow::Status(FileRecord*)> finish;
    std::function<void()> abandon;
  };

  StreamingParquetFileWriter(std::shared_ptr<HashingFile> file, Fate fate)
      : file_(std::move(file)), fate_(std::move(fate)) {}

  ~StreamingParquetFileWriter() override {
    if (finished_) return;
    writer_.reset();
    file_.reset();
    fate_.abandon();
  }

  arrow::Status Begin(const std::shared_ptr<arrow::Schema>& schema,
                      const ParquetFileOptions& options) {
    schema_ = schema;
    row_group_rows_ = options.row_group_rows;
    ARROW_ASSIGN_OR_RAISE(
        writer_, parquet::arrow::FileWriter::Open(
                     *schema, arrow::default_memory_pool(), file_,
                     WriterProperties(*schema, options),
                     parquet::ArrowWriterProperties::Builder().store_schema()->build()));
    if (options.metadata != nullptr) {
      ARROW_RETURN_NOT_OK(writer_->AddKeyValueMetadata(options.metadata));
    }
    return arrow::Status::OK();
  }

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    if (!batch.schema()->Equals(*schema_, /*check_metadata=*/false))
      return arrow::Status::Invalid("its columns are not those of the file");
    rows_ += batch.num_rows();
    for (std::int64_t begin = 0; begin < batch.num_rows();) {
      const std::int64_t count =
          std::min(batch.num_rows() - begin, row_group_rows_ - num_waiting_);
      waiting_.push_back(batch.Slice(begin, count));
      num_waiting_ += count;
      begin += count;
      if (num_waiting_ == row_group_rows_) ARROW_RETURN_NOT_OK(WriteRowGroup());
    }
    return arrow::Status::OK();
  }

  arrow::Result<FileRecord> Close() override {
    ARROW_RETURN_NOT_OK(WriteRowGroup());
    ARROW_RETURN_NOT_OK(writer_->Close());
    ARROW_ASSIGN_OR_RAISE(const std::int64_t size, file_->Tell());
    ARROW_RETURN_NOT_OK(file_->Close());
    FileRecord record;
    record.size = size;
    record.rows = rows_;
    record.xxh3 = file_->Digest();
    ARROW_RETURN_NOT_OK(fate_.finish(&record));
    finished_ = true;
    return record;
  }

 private:
  arrow::Status WriteRowGroup() {
    if (num_waiting_ == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto table,
                          arrow::Table::FromRecordBatches(schema_, waiting_));
    ARROW_RETURN_NOT_OK(writer_->WriteTable(*table, row_group_rows_));
    waiting_.clear();
    num_waiting_ = 0;
    return arrow::Status::OK();
  }

  std::shared_ptr<HashingFile> file_;
  Fate fate_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
  std::shared_ptr<arrow::Schema> schema_;
  std::int64_t row_group_rows_ = 0;
  arrow::RecordBatchVector waiting_;  // fewer rows than a row group has
  std::int64_t num_waiting_ = 0;
  std::int64_t rows_ = 0;
  bool finished_ = false;
};

arrow::Result<std::unique_ptr<ParquetFileWriter>> MakeWriter(
    std::shared_ptr<HashingFile> file, StreamingParquetFileWriter::Fate fate,
    const std::shared_ptr<arrow::Schema>& schema, const ParquetFileOptions& options) {
  auto writer =
      std::make_unique<StreamingParquetFileWriter>(std::move(file), std::move(fate));
  ARROW_RETURN_NOT_OK(writer->Begin(schema, options));
  return writer;
}

arrow::Result<std::unique_ptr<parquet::arrow::FileReader>> OpenChecked(
    std::shared_ptr<arrow::io::RandomAccessFile> file) {
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::move(file), UntrustedReaderProperties()));
  return builder.memory_pool(UntrustedPool())->Build();
}

// A table as it was decoded, once offsets and texts are known to be safe to use.
arrow::Result<std::shared_ptr<arrow::Table>> Validated(
    arrow::Result<std::shared_ptr<arrow::Table>> table) {
  if (table.ok()) ARROW_RETURN_NOT_OK((*table)->ValidateFull());
  return table;
}

// The leaves of the columns that are asked for; all of them where none is.
arrow::Result<std::vector<int>> LeavesOf(parquet::arrow::FileReader& reader,
                                         const std::vector<std::string>& columns) {
  std::vector<int> leaves;
  std::set<std::string> missing(columns.begin(), columns.end());
  const auto& schema = *reader.parquet_reader()->metadata()->schema();
  for (int leaf = 0; leaf < schema.num_columns(); ++leaf) {
    const std::string root = schema.Column(leaf)->path()->ToDotVector().front();
    const bool asked = std::find(columns.begin(), columns.end(), root) != columns.end();
    if (asked || columns.empty()) leaves.push_back(leaf);
    missing.erase(root);
  }
  if (missing.empty()) return leaves;
  return arrow::Status::KeyError("there is no column '", *missing.begin(), "'");
}

arrow::Result<std::shared_ptr<arrow::Table>> ReadChecked(
    std::shared_ptr<arrow::io::RandomAccessFile> file,
    const std::vector<std::string>& columns) {
  ARROW_ASSIGN_OR_RAISE(const auto reader, OpenChecked(std::move(file)));
  ARROW_ASSIGN_OR_RAISE(const auto leaves, LeavesOf(*reader, columns));
  return Validated(reader->ReadTable(leaves));
}

arrow::Status Unreadable(const arrow::Status& status, const std::string& shown) {
  if (IsBeyondMemory(status)) {
    return CorruptionError("cannot read '", shown, "': ", status.message());
  }
  return WithFault(status, Fault::kCorruption, "cannot read '" + shown + "': ");
}

class CheckedRowGroups : public ParquetRowGroups {
 public:
  CheckedRowGroups(std::unique_ptr<parquet::arrow::FileReader> reader,
                   std::vector<int> leaves, std::string shown)
      : reader_(std::move(reader)),
        leaves_(std::move(leaves)),
        shown_(std::move(shown)) {}

  arrow::Result<std::shared_ptr<arrow::Table>> Next() override {
    if (next_ == reader_->num_row_groups()) return nullptr;
    auto table = Validated(reader_->ReadRowGroup(next_++, leaves_));
    if (!table.ok()) return Unreadable(table.status(), shown_);
    return table;
  }

 private:
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::vector<int> leaves_;
  std::string shown_;
  int next_ = 0;
};

// A file that a manifest names, compared with its record.
arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenRecord(
    const RunStore& store, const FileRecord& record) {
  auto file = store.OpenInput(record);
  if (file.ok() || FaultOf(file.status())) return file;
  return Unreadable(file.status(), store.Show(record.path));
}

}  // namespace

arrow::Result<std::unique_ptr<ParquetFileWriter>> ParquetFileWriter::Stage(
    RunStore& store, std::string_view name, const std::shared_ptr<arrow::Schema>& schema,
    const ParquetFileOptions& options) {
  const std::string staged = store.StageName(name);
  ARROW_ASSIGN_OR_RAISE(auto file, store.Create(staged));
  const auto finish = [path = std::string(name), staged](FileRecord* record) {
    record->path = path;
    record->staged = staged;
    return arrow::Status::OK();
  };
  const auto abandon = [&store, staged] { ARROW_UNUSED(store.Remove(staged)); };
  return MakeWriter(std::move(file), {finish, abandon}, schema, options);
}

arrow::Result<std::unique_ptr<ParquetFileWriter>> ParquetFileWriter::Open(
    const std::string& path, const std::string& stage_path,
    const std::shared_ptr<arrow::Schema>& schema, const ParquetFileOptions& options) {
  for (const std::string& file : {path, stage_path}) {
    const auto directory = std::filesystem::path(file).parent_path();
    std::error_code error;
    if (!directory.empty()) std::filesystem::create_directories(directory, error);
    if (error) {
      return arrow::internal::IOErrorFromErrno(error.value(), "cannot create directory '",
                                               directory.string(), "'");
    }
  }
  // A staged file that is there already was left by a process that was killed.
  std::error_code ignored;
  std::filesystem::remove(stage_path, ignored);
  ARROW_ASSIGN_OR_RAISE(auto file, HashingFile::Create(stage_path));
  const auto finish = [path, stage_path](FileRecord* record) {
    record->path = path;
    if (std::rename(stage_path.c_str(), path.c_str()) != 0) {
      return arrow::internal::IOErrorFromErrno(errno, "cannot rename '", stage_path,
                                               "' to '", path, "'");
    }
    return SyncParentDirectory(path);
  };
  const auto abandon = [stage_path] {
    std::error_code unused;
    std::filesystem::remove(stage_path, unused);
  };
  return MakeWriter(std::move(file), {finish, abandon}, schema, options);
}

arrow::Result<FileRecord> StageParquetFile(RunStore& store, std::string_view name,
                                           const arrow::RecordBatch& batch,
                                           const ParquetFileOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto writer,
                        ParquetFileWriter::Stage(store, name, batch.schema(), options));
  ARROW_RETURN_NOT_OK(writer->Write(batch));
  return writer->Close();
}

arrow::Result<FileRecord> WriteParquetFile(const std::string& path,
                                           const std::string& stage_path,
                                           const arrow::RecordBatch& batch,
                                           const ParquetFileOptions& options) {
  ARROW_ASSIGN_OR_RAISE(
      auto writer, ParquetFileWriter::Open(path, stage_path, batch.schema(), options));
  ARROW_RETURN_NOT_OK(writer->Write(batch));
  return writer->Close();
}

arrow::Status CopyParquetRows(const RunStore& store, std::string_view name,
                              ParquetFileWriter& writer) {
  const auto copy = [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(auto file, store.OpenInput(name));
    ARROW_ASSIGN_OR_RAISE(const auto reader, OpenChecked(std::move(file)));
    for (int group = 0; group < reader->num_row_groups(); ++group) {
      ARROW_ASSIGN_OR_RAISE(const auto table, Validated(reader->ReadRowGroup(group)));
      arrow::TableBatchReader batches(*table);
      for (std::shared_ptr<arrow::RecordBatch> batch;;) {
        ARROW_RETURN_NOT_OK(batches.ReadNext(&batch));
        if (batch == nullptr) break;
        ARROW_RETURN_NOT_OK(writer.Write(*batch));
      }
    }
    return arrow::Status::OK();
  };
  const arrow::Status status = copy();
  return status.ok() || FaultOf(status) ? status : Unreadable(status, store.Show(name));
}

arrow::Result<std::unique_ptr<ParquetRowGroups>> ParquetRowGroups::Open(
    const RunStore& store, const FileRecord& record,
    const std::vector<std::string>& columns) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenRecord(store, record));
  std::string shown = store.Show(record.path);
  auto reader = OpenChecked(std::move(file));
  if (!reader.ok()) return Unreadable(reader.status(), shown);
  auto leaves = LeavesOf(**reader, columns);
  if (!leaves.ok()) return Unreadable(leaves.status(), shown);
  return std::make_unique<CheckedRowGroups>(*std::move(reader), *std::move(leaves),
                                            std::move(shown));
}

arrow::Status VisitParquetFile(
    const RunStore& store, const FileRecord& record,
    const std::vector<std::string>& columns,
    const std::function<arrow::Status(const arrow::Table&)>& visit) {
  ARROW_ASSIGN_OR_RAISE(const auto groups,
                        ParquetRowGroups::Open(store, record, columns));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto table, groups->Next());
    if (table == nullptr) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(visit(*table));
  }
}

arrow::Result<std::shared_ptr<arrow::Table>> ReadParquetFile(
    std::shared_ptr<arrow::io::RandomAccessFile> file, const std::string& shown,
    const std::vector<std::string>& columns) {
  auto table = ReadChecked(std::move(file), columns);
  if (!table.ok()) return Unreadable(table.status(), shown);
  return table;
}

arrow::Result<std::shared_ptr<arrow::Table>> ReadParquetFile(
    const RunStore& store, const FileRecord& record,
    const std::vector<std::string>& columns) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenRecord(store, record));
  return ReadParquetFile(std::move(file), store.Show(record.path), columns);
}

arrow::Result<std::shared_ptr<arrow::Table>> ReadParquetFile(
    const RunStore& store, std::string_view name,
    const std::vector<std::string>& columns) {
  auto file = store.OpenInput(name);
  if (FaultOf(file.status())) return file.status();
  if (!file.ok()) return Unreadable(file.status(), store.Show(name));
  return ReadParquetFile(*std::move(file), store.Show(name), columns);
}

arrow::Result<std::shared_ptr<arrow::Table>> ReadParquetFile(
    const std::string& path, const std::vector<std::string>& columns) {
  auto file = arrow::io::ReadableFile::Open(path);
  if (!file.ok()) return Unreadable(file.status(), path);
  return ReadParquetFile(*std::move(file), path, columns);
}

}  // namespace coden
