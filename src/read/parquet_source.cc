#include "coden/read/parquet_source.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include <arrow/acero/options.h>
#include <arrow/compute/initialize.h>
#include <arrow/dataset/api.h>
#include <arrow/filesystem/api.h>
#include <arrow/type.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "read/parquet_files_internal.h"
#include "read/parquet_footers_internal.h"
#include "read/partition_keys_internal.h"
#include "store/parquet_limits_internal.h"

namespace coden {

namespace {

// Batches in flight ahead of the consumer; enough to keep two cores decoding, and what
// bounds the memory of a scan.
constexpr int kBatchReadahead = 4;
constexpr int kFragmentReadahead = 1;
// Decoded bytes that may wait for the consumer; Arrow's own limit is a gigabyte.
constexpr std::uint64_t kWaitingBytesLow = 16 << 20;
constexpr std::uint64_t kWaitingBytesHigh = 64 << 20;

// Widen `schema` where another file has a larger type of the same kind: int64 for int32.
// Times keep their unit, because numbers that are handed on are in the unit of the log.
arrow::Result<std::shared_ptr<arrow::Schema>> Widen(std::shared_ptr<arrow::Schema> schema,
                                                    const arrow::Schema& other) {
  auto options = arrow::Field::MergeOptions::Permissive();
  options.promote_temporal_unit = false;
  options.promote_integer_to_float = false;
  options.promote_decimal_to_float = false;
  for (int i = 0; i < schema->num_fields(); ++i) {
    const auto field = other.GetFieldByName(schema->field(i)->name());
    if (field == nullptr || field->type()->Equals(schema->field(i)->type())) continue;
    // What cannot be merged is cast when it is read, if it is.
    const auto merged = schema->field(i)->MergeWith(field, options);
    if (!merged.ok()) continue;
    ARROW_ASSIGN_OR_RAISE(schema, schema->SetField(i, *merged));
  }
  return schema;
}

// `what` cannot be read, because of `status`.
arrow::Status CannotRead(const std::string& what, const arrow::Status& status) {
  if (status.message().find("magic bytes not found") != std::string::npos) {
    return InputError(what,
                      ": it is not a Parquet file, or it was cut off; write it again");
  }
  if (IsBeyondMemory(status)) {
    return InputError(what,
                      ": it asks for more memory than this machine has; check the file, "
                      "or take a smaller `input.batch_rows`: ",
                      status.message());
  }
  return WithFault(status, Fault::kInput, what + ": ");
}

// Pass on `count` rows after the first `skip`, saying which input an error came from.
class RowsReader : public arrow::RecordBatchReader {
 public:
  RowsReader(std::shared_ptr<arrow::RecordBatchReader> reader, std::string shown,
             std::int64_t skip, std::int64_t count)
      : reader_(std::move(reader)),
        shown_(std::move(shown)),
        skip_(skip),
        count_(count) {}

  std::shared_ptr<arrow::Schema> schema() const override { return reader_->schema(); }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    do {
      batch->reset();
      if (count_ == 0) return arrow::Status::OK();
      arrow::Status status = reader_->ReadNext(batch);
      if (status.ok() && *batch != nullptr) status = (*batch)->ValidateFull();
      if (!status.ok()) return CannotRead("cannot read '" + shown_ + "'", status);
      if (*batch != nullptr) *batch = Cut(**batch);
    } while (*batch != nullptr && (*batch)->num_rows() == 0);
    return arrow::Status::OK();
  }

 private:
  std::shared_ptr<arrow::RecordBatch> Cut(const arrow::RecordBatch& batch) {
    const std::int64_t skipped = std::min(skip_, batch.num_rows());
    const std::int64_t taken = std::min(count_, batch.num_rows() - skipped);
    skip_ -= skipped;
    count_ -= taken;
    return batch.Slice(skipped, taken);
  }

  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::string shown_;
  std::int64_t skip_;
  std::int64_t count_;
};

class DatasetParquetSource : public ParquetSource {
 public:
  explicit DatasetParquetSource(std::string path)
      : path_(std::move(path)), shown_(MaskCredentials(path_)) {}

  arrow::Status OpenFiles(const std::vector<std::string>& known) {
    static const arrow::Status initialized = arrow::compute::Initialize();
    ARROW_RETURN_NOT_OK(initialized);
    ARROW_ASSIGN_OR_RAISE(const Location location, OpenLocation(path_));
    filesystem_ = location.filesystem;
    ARROW_ASSIGN_OR_RAISE(files_, ListParquetFiles(location, shown_, known));
    ARROW_ASSIGN_OR_RAISE(const auto keys, PartitionKeys::Of(files_));
    format_->default_fragment_scan_options = ScanOptions();
    ARROW_RETURN_NOT_OK(
        VisitFiles([&](std::size_t i, parquet::arrow::FileReader& reader) {
          return Take(i, reader, keys);
        }));
    ARROW_ASSIGN_OR_RAISE(schema_, keys.AddTo(std::move(schema_)));
    return arrow::Status::OK();
  }

  const std::string& path() const override { return path_; }
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  const std::vector<File>& files() const override { return files_; }

  arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenFile(
      const File& file) const override {
    return filesystem_->OpenInputFile(file.path);
  }

  arrow::Status ForEachFooter(
      const std::function<arrow::Status(const parquet::FileMetaData&)>& visit)
      const override {
    return VisitFiles([&](std::size_t, parquet::arrow::FileReader& reader) {
      return visit(*reader.parquet_reader()->metadata());
    });
  }

  arrow::Result<std::int64_t> CountRows() const override {
    return std::accumulate(
        files_.begin(), files_.end(), std::int64_t{0},
        [](std::int64_t sum, const File& file) { return sum + file.num_rows; });
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
      const std::vector<std::string>& columns, std::int64_t batch_rows,
      std::int64_t first_row, std::int64_t end_row) const override {
    std::int64_t skip = 0;
    auto reader = MakeReader(columns, batch_rows, first_row, end_row, &skip);
    if (!reader.ok()) return Named(reader.status());
    return std::make_shared<RowsReader>(*std::move(reader), shown_, skip,
                                        std::max<std::int64_t>(end_row - first_row, 0));
  }

  /// Say that the input, or its file called `file`, cannot be read.
  arrow::Status Named(const arrow::Status& status, const std::string& file = {}) const {
    const std::string what =
        "cannot read '" + shown_ + "'" + (file.empty() ? "" : ", file '" + file + "'");
    return CannotRead(what, status);
  }

 private:
  static std::shared_ptr<arrow::dataset::ParquetFragmentScanOptions> ScanOptions() {
    auto options = std::make_shared<arrow::dataset::ParquetFragmentScanOptions>();
    LimitFooter(options->reader_properties.get());
    // What is read ahead into this buffer stays there until the file is finished: memory
    // would grow with the size of the file.
    options->arrow_reader_properties->set_pre_buffer(false);
    return options;
  }

  // The size spares a store one request.
  arrow::dataset::FileSource SourceOf(const File& file) const {
    arrow::fs::FileInfo info(file.path, arrow::fs::FileType::File);
    info.set_size(file.size);
    return {std::move(info), filesystem_};
  }

  arrow::Status VisitFiles(
      const std::function<arrow::Status(std::size_t, parquet::arrow::FileReader&)>& visit)
      const {
    std::vector<arrow::dataset::FileSource> sources;
    sources.reserve(files_.size());
    for (const File& file : files_) sources.push_back(SourceOf(file));
    return ReadFooters(
        *format_, sources, visit, [this](std::size_t i, const arrow::Status& status) {
          return Named(status, files_.size() > 1 ? files_[i].name : std::string());
        });
  }

  arrow::Status Take(std::size_t file, parquet::arrow::FileReader& reader,
                     const PartitionKeys& keys) {
    std::shared_ptr<arrow::Schema> own;
    ARROW_RETURN_NOT_OK(reader.GetSchema(&own));
    if (file == 0) {
      // Refuses two columns of one name.
      ARROW_ASSIGN_OR_RAISE(schema_, arrow::UnifySchemas({own}));
    } else {
      ARROW_ASSIGN_OR_RAISE(schema_, Widen(std::move(schema_), *own));
    }
    ARROW_ASSIGN_OR_RAISE(auto folders, keys.ValuesOf(files_[file], *own));
    folders_.push_back(std::move(folders));
    const auto metadata = reader.parquet_reader()->metadata();
    auto& group_rows = group_rows_.emplace_back();
    for (int i = 0; i < metadata->num_row_groups(); ++i) {
      group_rows.push_back(metadata->RowGroup(i)->num_rows());
      if (group_rows.back() < 0) {
        return arrow::Status::Invalid("a row group has fewer than no rows");
      }
    }
    files_[file].num_rows =
        std::accumulate(group_rows.begin(), group_rows.end(), std::int64_t{0});
    return arrow::Status::OK();
  }

  // The row groups that hold rows of [first_row, end_row), as a dataset. `skip` is how
  // many rows of the first one come before.
  arrow::Result<std::shared_ptr<arrow::dataset::Dataset>> RowGroups(
      std::int64_t first_row, std::int64_t end_row, std::int64_t* skip) const {
    std::vector<std::shared_ptr<arrow::dataset::FileFragment>> fragments;
    std::int64_t row = 0;
    for (std::size_t file = 0; file < files_.size() && row < end_row; ++file) {
      std::vector<int> groups;
      for (std::size_t group = 0; group < group_rows_[file].size(); ++group) {
        const std::int64_t begin = row;
        row += group_rows_[file][group];
        if (row <= first_row || begin >= end_row) continue;
        if (begin <= first_row) *skip = first_row - begin;
        groups.push_back(static_cast<int>(group));
      }
      if (groups.empty()) continue;
      ARROW_ASSIGN_OR_RAISE(
          auto fragment,
          format_->MakeFragment(SourceOf(files_[file]), folders_[file],
                                /*physical_schema=*/nullptr, std::move(groups)));
      fragments.push_back(std::move(fragment));
    }
    return arrow::dataset::FileSystemDataset::Make(schema_, arrow::compute::literal(true),
                                                   format_, filesystem_,
                                                   std::move(fragments));
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> MakeReader(
      const std::vector<std::string>& columns, std::int64_t batch_rows,
      std::int64_t first_row, std::int64_t end_row, std::int64_t* skip) const {
    ARROW_ASSIGN_OR_RAISE(auto dataset, RowGroups(first_row, end_row, skip));
    arrow::dataset::ScannerBuilder builder(std::move(dataset));
    ARROW_RETURN_NOT_OK(builder.Project(columns));
    ARROW_RETURN_NOT_OK(builder.Pool(UntrustedPool()));
    ARROW_RETURN_NOT_OK(builder.BatchSize(batch_rows));
    ARROW_RETURN_NOT_OK(builder.UseThreads(true));
    ARROW_RETURN_NOT_OK(builder.BatchReadahead(kBatchReadahead));
    ARROW_RETURN_NOT_OK(builder.FragmentReadahead(kFragmentReadahead));
    ARROW_RETURN_NOT_OK(builder.Backpressure({kWaitingBytesLow, kWaitingBytesHigh}));
    ARROW_RETURN_NOT_OK(builder.FragmentScanOptions(ScanOptions()));
    ARROW_ASSIGN_OR_RAISE(auto scanner, builder.Finish());
    return scanner->ToRecordBatchReader();
  }

  std::string path_;
  std::string shown_;  // without credentials
  std::shared_ptr<arrow::fs::FileSystem> filesystem_;
  std::shared_ptr<arrow::dataset::ParquetFileFormat> format_ =
      std::make_shared<arrow::dataset::ParquetFileFormat>();
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<File> files_;
  // What the names of its folders tell, by file.
  std::vector<arrow::compute::Expression> folders_;
  std::vector<std::vector<std::int64_t>> group_rows_;  // of each row group, by file
};

}  // namespace

ParquetSource::Place ParquetSource::PlaceOf(std::int64_t row) const {
  auto file = files().begin();
  while (row >= file->num_rows && std::next(file) != files().end()) {
    row -= file->num_rows;
    ++file;
  }
  return {&*file, row};
}

arrow::Result<std::unique_ptr<ParquetSource>> ParquetSource::Open(
    const std::string& path, const std::vector<std::string>& known) {
  auto source = std::make_unique<DatasetParquetSource>(path);
  const arrow::Status status = source->OpenFiles(known);
  if (status.ok()) return source;
  // An error of ours names the input already; one of an object store does not.
  const bool of_store = FaultOf(status) == Fault::kUnavailable && status.IsIOError();
  if (FaultOf(status) && !of_store) return status;
  return source->Named(status);
}

}  // namespace coden
