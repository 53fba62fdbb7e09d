#include "coden/read/parquet_source.h"

#include <algorithm>
#include <filesystem>
#include <mutex>

#include <arrow/acero/options.h>
#include <arrow/compute/initialize.h>
#include <arrow/dataset/api.h>
#include <arrow/filesystem/api.h>
#include <arrow/filesystem/path_util.h>
#include <arrow/type.h>
#include <parquet/properties.h>

#include "coden/pipeline/error.h"
#include "read/rules_internal.h"

namespace coden {

namespace {

// Batches in flight ahead of the consumer; enough to keep two cores decoding, and what
// bounds the memory of a scan.
constexpr int kBatchReadahead = 4;
constexpr int kFragmentReadahead = 1;
// Decoded bytes that may wait for the consumer; Arrow's own limit is a gigabyte.
constexpr std::uint64_t kWaitingBytesLow = 16 << 20;
constexpr std::uint64_t kWaitingBytesHigh = 64 << 20;

bool HasGlob(std::string_view path) {
  return path.find_first_of("*?[") != std::string_view::npos;
}

bool IsParquetName(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return !name.starts_with('.') && !name.starts_with('_') &&
         (name.ends_with(".parquet") || name.ends_with(".parq"));
}

arrow::Result<std::vector<arrow::fs::FileInfo>> ListFiles(
    arrow::fs::FileSystem& filesystem, const std::string& base) {
  arrow::fs::FileSelector selector;
  selector.base_dir = base;
  selector.recursive = true;
  ARROW_ASSIGN_OR_RAISE(auto infos, filesystem.GetFileInfo(selector));
  std::erase_if(infos, [](const auto& info) { return !info.IsFile(); });
  std::sort(infos.begin(), infos.end(),
            [](const auto& a, const auto& b) { return a.path() < b.path(); });
  return infos;
}

// The files that `path` stands for, in path order.
arrow::Result<std::vector<arrow::fs::FileInfo>> Expand(arrow::fs::FileSystem& filesystem,
                                                       const std::string& path) {
  if (HasGlob(path)) {
    const std::string fixed = path.substr(0, path.find_first_of("*?["));
    const std::string base =
        fixed.substr(0, std::max<std::size_t>(fixed.find_last_of('/'), 1));
    ARROW_ASSIGN_OR_RAISE(const auto folder, filesystem.GetFileInfo(base));
    std::vector<arrow::fs::FileInfo> infos;
    if (folder.IsDirectory()) {
      ARROW_ASSIGN_OR_RAISE(infos, ListFiles(filesystem, base));
    }
    arrow::fs::internal::Globber globber(path);
    std::erase_if(infos, [&](const auto& info) { return !globber.Matches(info.path()); });
    if (infos.empty()) return InputError("no file matches the pattern '", path, "'");
    return infos;
  }
  ARROW_ASSIGN_OR_RAISE(auto info, filesystem.GetFileInfo(path));
  if (info.type() == arrow::fs::FileType::NotFound) {
    return InputError("no such file or directory: '", path, "'");
  }
  if (info.IsFile()) return std::vector{info};
  ARROW_ASSIGN_OR_RAISE(auto infos, ListFiles(filesystem, path));
  std::erase_if(infos, [](const auto& file) { return !IsParquetName(file.path()); });
  if (infos.empty())
    return InputError("the directory '", path, "' holds no .parquet file");
  return infos;
}

// Pass batches on, saying which input an error came from.
class NamedReader : public arrow::RecordBatchReader {
 public:
  NamedReader(std::shared_ptr<arrow::RecordBatchReader> reader, std::string path)
      : reader_(std::move(reader)), path_(std::move(path)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return reader_->schema(); }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    arrow::Status status = reader_->ReadNext(batch);
    if (status.ok() && *batch != nullptr) status = (*batch)->ValidateFull();
    return WithFault(status, Fault::kInput, "cannot read '" + path_ + "': ");
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::string path_;
};

class DatasetParquetSource : public ParquetSource {
 public:
  explicit DatasetParquetSource(std::string path) : path_(std::move(path)) {}

  arrow::Status OpenDataset() {
    static const arrow::Status initialized = arrow::compute::Initialize();
    ARROW_RETURN_NOT_OK(initialized);
    const bool is_uri = path_.find("://") != std::string::npos;
    const std::string full = is_uri ? path_ : std::filesystem::absolute(path_).string();
    std::string inner;
    ARROW_ASSIGN_OR_RAISE(filesystem_, arrow::fs::FileSystemFromUriOrPath(full, &inner));
    ARROW_ASSIGN_OR_RAISE(const auto infos, Expand(*filesystem_, inner));
    for (const auto& info : infos) {
      files_.push_back({info.path(), info.size()});
    }
    auto format = std::make_shared<arrow::dataset::ParquetFileFormat>();
    format->default_fragment_scan_options = ScanOptions();
    ARROW_ASSIGN_OR_RAISE(auto factory, arrow::dataset::FileSystemDatasetFactory::Make(
                                            filesystem_, infos, format, {}));
    ARROW_ASSIGN_OR_RAISE(dataset_, factory->Finish());
    schema_ = dataset_->schema();
    return arrow::Status::OK();
  }

  const std::string& path() const override { return path_; }
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  const std::vector<File>& files() const override { return files_; }

  arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenFile(
      const File& file) const override {
    return filesystem_->OpenInputFile(file.path);
  }

  arrow::Result<std::int64_t> CountRows() const override {
    auto count = [this]() -> arrow::Result<std::int64_t> {
      arrow::dataset::ScannerBuilder builder(dataset_);
      ARROW_ASSIGN_OR_RAISE(auto scanner, builder.Finish());
      return scanner->CountRows();
    }();
    if (!count.ok()) return Named(count.status());
    return count;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
      const std::vector<std::string>& columns, std::int64_t batch_rows) const override {
    auto reader = MakeReader(columns, batch_rows);
    if (!reader.ok()) return Named(reader.status());
    return std::make_shared<NamedReader>(*std::move(reader), path_);
  }

  arrow::Status Named(const arrow::Status& status) const {
    if (status.message().find("magic bytes not found") != std::string::npos) {
      return InputError("cannot read '", path_,
                        "': it is not a Parquet file, or it was cut off; write it again");
    }
    return WithFault(status, Fault::kInput, "cannot read '" + path_ + "': ");
  }

 private:
  static std::shared_ptr<arrow::dataset::ParquetFragmentScanOptions> ScanOptions() {
    auto options = std::make_shared<arrow::dataset::ParquetFragmentScanOptions>();
    options->reader_properties->set_page_checksum_verification(true);
    // What is read ahead into this buffer stays there until the file is finished: memory
    // would grow with the size of the file.
    options->arrow_reader_properties->set_pre_buffer(false);
    return options;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> MakeReader(
      const std::vector<std::string>& columns, std::int64_t batch_rows) const {
    arrow::dataset::ScannerBuilder builder(dataset_);
    ARROW_RETURN_NOT_OK(builder.Project(columns));
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
  std::shared_ptr<arrow::fs::FileSystem> filesystem_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<arrow::dataset::Dataset> dataset_;
  std::vector<File> files_;
};

}  // namespace

arrow::Result<std::unique_ptr<ParquetSource>> ParquetSource::Open(
    const std::string& path) {
  auto source = std::make_unique<DatasetParquetSource>(path);
  const arrow::Status status = source->OpenDataset();
  if (FaultOf(status)) return status;
  if (!status.ok()) return source->Named(status);
  return source;
}

}  // namespace coden
