// A run in a local folder. Arrow's local filesystem neither syncs nor creates a file only
// if it is new, so what a commit relies on is asked of the system itself.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <arrow/filesystem/filesystem.h>
#include <arrow/util/io_util.h>

#include "coden/base/error.h"
#include "coden/store/run_layout.h"
#include "store/hashing_file_internal.h"
#include "store/run_store_internal.h"

namespace coden {

namespace {

namespace fs = std::filesystem;

// Make the folder of `path` with those above it, so that they survive a crash.
arrow::Status MakeFolderOf(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(MakeFolderOf(folder.string()));
  // Another thread may make the same folder at this moment; that is no error. Whatever
  // the mask of the process, not everybody may put files into a run.
  const bool made = ::mkdir(folder.c_str(), 0775) == 0;
  const int reason = errno == EEXIST ? ENOTDIR : errno;
  if (!made && !fs::is_directory(folder, error)) {
    return arrow::internal::IOErrorFromErrno(reason, "cannot create the folder '",
                                             folder.string(), "'");
  }
  return SyncParentDirectory(folder.string());
}

class LocalRunStore final : public RunStore {
 public:
  LocalRunStore(const std::string& directory,
                std::shared_ptr<arrow::fs::FileSystem> filesystem,
                const std::string& path)
      : RunStore(directory, std::move(filesystem), path) {}

  bool local() const override { return true; }
  std::string LocalPath(std::string_view name) const override { return Inside(name); }

  arrow::Result<std::vector<std::string>> List(std::string_view folder) const override {
    std::vector<std::string> names;
    const std::string base = Inside({});
    const std::size_t prefix = base.size() + (base.ends_with('/') ? 0 : 1);
    ARROW_RETURN_NOT_OK(CheckInside(folder));
    std::error_code error;
    // Links to folders are not followed: what is behind them is not of this run.
    fs::recursive_directory_iterator entry(Inside(folder), error);
    if (error == std::errc::no_such_file_or_directory ||
        error == std::errc::not_a_directory) {
      return names;
    }
    while (!error && entry != fs::end(entry)) {
      const bool listed = entry->is_symlink(error) || entry->is_regular_file(error);
      if (listed) names.push_back(entry->path().string().substr(prefix));
      // A file that vanishes while it is looked at is not there.
      if (error && error != std::errc::no_such_file_or_directory) break;
      entry.increment(error);
    }
    if (error) {
      return arrow::internal::IOErrorFromErrno(error.value(), "cannot list '",
                                               Inside(folder), "'");
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  arrow::Status Prepare() override {
    for (const std::string_view name : {RunLayout::kStage, RunLayout::kLock})
      ARROW_RETURN_NOT_OK(CheckInside(name));
    std::error_code error;
    const fs::file_type found = fs::status(Inside({}), error).type();
    if (found == fs::file_type::none) {
      return arrow::internal::IOErrorFromErrno(error.value(), "cannot look at '",
                                               Inside({}), "'");
    }
    if (found != fs::file_type::not_found && found != fs::file_type::directory)
      return UsageError("`run.directory` is not a folder: '", Show(), "'");
    return MakeFolderOf(Inside(RunLayout::kStage) + "/");
  }

  arrow::Result<std::shared_ptr<HashingFile>> Create(std::string_view name) override {
    const std::string path = Inside(name);
    ARROW_RETURN_NOT_OK(CheckInside(FolderOf(name)));
    ARROW_RETURN_NOT_OK(MakeFolderOf(path));
    std::error_code ignored;
    fs::remove(path, ignored);
    return HashingFile::Create(path);
  }

  arrow::Status Move(std::string_view from, std::string_view to) override {
    const std::string source = Inside(from);
    const std::string target = Inside(to);
    ARROW_RETURN_NOT_OK(CheckInside(from));
    ARROW_RETURN_NOT_OK(CheckInside(FolderOf(to)));
    ARROW_RETURN_NOT_OK(MakeFolderOf(target));
    if (std::rename(source.c_str(), target.c_str()) != 0) {
      return arrow::internal::IOErrorFromErrno(errno, "cannot rename '", source, "' to '",
                                               target, "'");
    }
    // The folder of a commit goes with its last file; one that is not empty stays.
    if (from.starts_with(RunLayout::kStage)) {
      std::error_code ignored;
      fs::remove(fs::path(source).parent_path(), ignored);
    }
    return SyncParentDirectory(target);
  }

  arrow::Status Copy(std::string_view from, std::string_view to) override {
    const std::string source = Inside(from);
    const std::string target = Inside(to);
    ARROW_RETURN_NOT_OK(CheckInside(from));
    ARROW_RETURN_NOT_OK(CheckInside(FolderOf(to)));
    ARROW_RETURN_NOT_OK(MakeFolderOf(target));
    if (::link(source.c_str(), target.c_str()) != 0) {
      return arrow::internal::IOErrorFromErrno(errno, "cannot link '", source, "' to '",
                                               target, "'");
    }
    return arrow::Status::OK();
  }

  arrow::Status Remove(std::string_view name) override {
    ARROW_RETURN_NOT_OK(CheckInside(FolderOf(name)));
    std::error_code error;
    fs::path path = Inside(name);
    if (!fs::remove(path, error) && error) {
      return arrow::internal::IOErrorFromErrno(error.value(), "cannot remove '",
                                               path.string(), "'");
    }
    while (name.find('/') != name.npos) {
      name = name.substr(0, name.rfind('/'));
      path = path.parent_path();
      if (name == RunLayout::kStage || !fs::is_empty(path, error) || error) break;
      fs::remove(path, error);
    }
    return arrow::Status::OK();
  }

  arrow::Result<bool> CreateNew(std::string_view name, std::string_view text) override {
    ARROW_ASSIGN_OR_RAISE(const FileRecord staged, StageText(name, text));
    const std::string source = Inside(staged.staged);
    const std::string target = Inside(name);
    ARROW_RETURN_NOT_OK(CheckInside(FolderOf(name)));
    // link(2) is the one way to give a complete file its name that fails where the name
    // exists.
    const bool linked = ::link(source.c_str(), target.c_str()) == 0;
    const int error_number = errno;
    ::unlink(source.c_str());
    std::error_code ignored;
    fs::remove(fs::path(source).parent_path(), ignored);
    if (!linked && error_number == EEXIST) return false;
    if (!linked) {
      return arrow::internal::IOErrorFromErrno(error_number, "cannot publish '", target,
                                               "'");
    }
    ARROW_RETURN_NOT_OK(SyncParentDirectory(target));
    return true;
  }

  arrow::Status SyncStage() override {
    std::error_code error;
    const fs::file_type found = fs::status(Inside(StageFolder()), error).type();
    if (found == fs::file_type::not_found) return arrow::Status::OK();
    return SyncParentDirectory(Inside(StageFolder()) + "/");
  }

 protected:
  // Whoever can put a link into a run must not make the tool read, replace or remove
  // something elsewhere.
  arrow::Status CheckInside(std::string_view name) const override {
    for (std::size_t end = 0; end != name.npos && !name.empty();) {
      end = name.find('/', end + 1);
      const std::string_view step = name.substr(0, end);
      std::error_code ignored;
      if (fs::is_symlink(fs::symlink_status(Inside(step), ignored))) {
        return CorruptionError("'", Show(step),
                               "' is a symbolic link; a run has its files in its own "
                               "folder: put the file or folder itself there");
      }
    }
    return arrow::Status::OK();
  }

 private:
  static std::string_view FolderOf(std::string_view name) {
    const std::size_t slash = name.rfind('/');
    return slash == name.npos ? std::string_view() : name.substr(0, slash);
  }
};

}  // namespace

std::shared_ptr<RunStore> MakeLocalRunStore(
    const std::string& directory, std::shared_ptr<arrow::fs::FileSystem> filesystem,
    const std::string& path) {
  return std::make_shared<LocalRunStore>(directory, std::move(filesystem), path);
}

}  // namespace coden
