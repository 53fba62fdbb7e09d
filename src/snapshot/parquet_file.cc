#include "coden/snapshot/parquet_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <arrow/io/file.h>
#include <arrow/table.h>
#include <arrow/util/io_util.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include "coden/pipeline/error.h"
#include "snapshot/hashing_stream_internal.h"

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
  StreamingParquetFileWriter(std::string path, std::string stage_path)
      : path_(std::move(path)), stage_path_(std::move(stage_path)) {}

  ~StreamingParquetFileWriter() override {
    if (renamed_) return;
    writer_.reset();
    std::error_code ignored;
    std::filesystem::remove(stage_path_, ignored);
  }

  arrow::Status Begin(const std::shared_ptr<arrow::Schema>& schema,
                      const ParquetFileOptions& options) {
    for (const std::string& path : {path_, stage_path_}) {
      const auto directory = std::filesystem::path(path).parent_path();
      std::error_code error;
      if (!directory.empty()) std::filesystem::create_directories(directory, error);
      if (error) {
        return arrow::internal::IOErrorFromErrno(
            error.value(), "cannot create directory '", directory.string(), "'");
      }
    }
    // A staged file that is there already was left by a run that was killed.
    std::error_code ignored;
    std::filesystem::remove(stage_path_, ignored);
    ARROW_ASSIGN_OR_RAISE(file_, HashingFile::Create(stage_path_));
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
    if (std::rename(stage_path_.c_str(), path_.c_str()) != 0) {
      return arrow::internal::IOErrorFromErrno(errno, "cannot rename '", stage_path_,
                                               "' to '", path_, "'");
    }
    renamed_ = true;
    ARROW_RETURN_NOT_OK(SyncParentDirectory(path_));
    return FileRecord{path_, size, rows_, file_->Digest()};
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

  std::string path_;
  std::string stage_path_;
  std::shared_ptr<HashingFile> file_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
  std::shared_ptr<arrow::Schema> schema_;
  std::int64_t row_group_rows_ = 0;
  arrow::RecordBatchVector waiting_;  // fewer rows than a row group has
  std::int64_t num_waiting_ = 0;
  std::int64_t rows_ = 0;
  bool renamed_ = false;
};

arrow::Result<std::shared_ptr<arrow::Table>> ReadChecked(
    const std::string& path, const std::vector<std::string>& columns) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  parquet::ReaderProperties properties;
  properties.set_page_checksum_verification(true);
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(file, properties));
  ARROW_ASSIGN_OR_RAISE(auto reader, builder.Build());
  if (columns.empty()) return reader->ReadTable();
  std::vector<int> leaves;
  const auto& schema = *reader->parquet_reader()->metadata()->schema();
  for (int leaf = 0; leaf < schema.num_columns(); ++leaf) {
    const std::string root = schema.Column(leaf)->path()->ToDotVector().front();
    if (std::find(columns.begin(), columns.end(), root) != columns.end()) {
      leaves.push_back(leaf);
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto table, reader->ReadTable(leaves));
  for (const std::string& column : columns) {
    if (table->schema()->GetFieldIndex(column) < 0) {
      return arrow::Status::KeyError("there is no column '", column, "'");
    }
  }
  return table;
}

}  // namespace

arrow::Result<std::unique_ptr<ParquetFileWriter>> ParquetFileWriter::Open(
    std::string path, std::string stage_path,
    const std::shared_ptr<arrow::Schema>& schema, const ParquetFileOptions& options) {
  auto writer = std::make_unique<StreamingParquetFileWriter>(std::move(path),
                                                             std::move(stage_path));
  ARROW_RETURN_NOT_OK(writer->Begin(schema, options));
  return writer;
}

arrow::Result<FileRecord> WriteParquetFile(std::string path, std::string stage_path,
                                           const arrow::RecordBatch& batch,
                                           const ParquetFileOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto writer,
                        ParquetFileWriter::Open(std::move(path), std::move(stage_path),
                                                batch.schema(), options));
  ARROW_RETURN_NOT_OK(writer->Write(batch));
  return writer->Close();
}

arrow::Result<std::shared_ptr<arrow::Table>> ReadParquetFile(
    const std::string& path, const std::vector<std::string>& columns) {
  auto table = ReadChecked(path, columns);
  if (!table.ok()) {
    return WithFault(table.status(), Fault::kCorruption, "cannot read '" + path + "': ");
  }
  return table;
}

}  // namespace coden
