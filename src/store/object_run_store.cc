// A run in an object store. A file appears whole when it is closed, so nothing is staged
// for atomicity; there is no rename and no exclusive create, so a run has one writer
// (docs/files.md).

#include <arrow/filesystem/filesystem.h>
#include <arrow/filesystem/mockfs.h>

#include "coden/base/error.h"
#include "coden/store/run_layout.h"
#include "store/hashing_file_internal.h"
#include "store/run_store_internal.h"

namespace coden {

namespace {

class ObjectRunStore final : public RunStore {
 public:
  ObjectRunStore(const std::string& directory,
                 std::shared_ptr<arrow::fs::FileSystem> filesystem,
                 const std::string& path)
      : RunStore(directory, std::move(filesystem), path) {}

  bool local() const override { return false; }
  std::string LocalPath(std::string_view) const override { return {}; }

  arrow::Status Prepare() override {
    // A bucket must be there; folders are only names.
    const std::string base = Inside({});
    const std::string bucket = base.substr(0, base.find('/'));
    ARROW_ASSIGN_OR_RAISE(const auto info, filesystem().GetFileInfo(bucket));
    if (!info.IsDirectory()) {
      return UsageError("`run.directory` is in a bucket that does not exist: '", Show(),
                        "'; create it first");
    }
    return arrow::Status::OK();
  }

  arrow::Result<std::shared_ptr<HashingFile>> Create(std::string_view name) override {
    ARROW_ASSIGN_OR_RAISE(auto stream, filesystem().OpenOutputStream(Inside(name)));
    return HashingFile::Wrap(std::move(stream));
  }

  arrow::Status Move(std::string_view from, std::string_view to) override {
    if (from == to) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(filesystem().CopyFile(Inside(from), Inside(to)));
    return Remove(from);
  }

  arrow::Status Copy(std::string_view from, std::string_view to) override {
    return filesystem().CopyFile(Inside(from), Inside(to));
  }

  arrow::Status Remove(std::string_view name) override {
    ARROW_ASSIGN_OR_RAISE(const auto size, Size(name));
    return size ? filesystem().DeleteFile(Inside(name)) : arrow::Status::OK();
  }

  arrow::Result<bool> CreateNew(std::string_view name, std::string_view text) override {
    ARROW_ASSIGN_OR_RAISE(const auto size, Size(name));
    if (size) return false;
    ARROW_ASSIGN_OR_RAISE(const auto file, Create(name));
    ARROW_RETURN_NOT_OK(file->Write(text.data(), static_cast<std::int64_t>(text.size())));
    ARROW_RETURN_NOT_OK(file->Close());
    return true;
  }

  arrow::Status SyncStage() override { return arrow::Status::OK(); }
};

}  // namespace

std::shared_ptr<RunStore> MakeObjectRunStore(
    const std::string& directory, std::shared_ptr<arrow::fs::FileSystem> filesystem,
    const std::string& path) {
  return std::make_shared<ObjectRunStore>(directory, std::move(filesystem), path);
}

arrow::Result<std::shared_ptr<RunStore>> MakeMemoryRunStore() {
  constexpr char kPlace[] = "plan";
  auto files = std::make_shared<arrow::fs::internal::MockFileSystem>(
      arrow::fs::TimePoint::clock::now());
  ARROW_RETURN_NOT_OK(files->CreateDir(std::string(kPlace) + "/" +
                                       std::string(RunLayout::kStage) + "/1"));
  return std::make_shared<ObjectRunStore>(kPlace, std::move(files), kPlace);
}

}  // namespace coden
