#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <arrow/util/io_util.h>
#include <arrow/util/macros.h>

#include "coden/store/hasher.h"
#include "store/hashing_file_internal.h"

namespace coden {

namespace {

// Whether everything written so far is on the disk. A signal may come in between.
bool Sync(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

class PosixHashingFile : public HashingFile {
 public:
  PosixHashingFile(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}

  ~PosixHashingFile() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  arrow::Status Write(const void* data, std::int64_t size) override {
    hash_.Update(data, static_cast<std::size_t>(size));
    const char* next = static_cast<const char*>(data);
    for (std::int64_t left = size; left > 0;) {
      const ssize_t written = ::write(descriptor_, next, static_cast<std::size_t>(left));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return Failed("write");
      next += written;
      left -= written;
    }
    position_ += size;
    return arrow::Status::OK();
  }

  arrow::Status Close() override {
    if (descriptor_ < 0) return arrow::Status::OK();
    const bool synced = Sync(descriptor_);
    const arrow::Status status = synced ? arrow::Status::OK() : Failed("sync");
    ::close(std::exchange(descriptor_, -1));
    return status;
  }

  bool closed() const override { return descriptor_ < 0; }
  arrow::Result<std::int64_t> Tell() const override { return position_; }

  std::string Digest() const override { return hash_.Digest(); }

 private:
  arrow::Status Failed(const char* action) const {
    return arrow::internal::IOErrorFromErrno(errno, "cannot ", action, " '", path_, "'");
  }

  int descriptor_;
  std::string path_;
  Hasher hash_;
  std::int64_t position_ = 0;
};

class WrappedHashingFile : public HashingFile {
 public:
  explicit WrappedHashingFile(std::shared_ptr<arrow::io::OutputStream> stream)
      : stream_(std::move(stream)) {}

  // A file that was not finished must not appear.
  ~WrappedHashingFile() override {
    if (!stream_->closed()) ARROW_UNUSED(stream_->Abort());
  }

  arrow::Status Write(const void* data, std::int64_t size) override {
    hash_.Update(data, static_cast<std::size_t>(size));
    return stream_->Write(data, size);
  }
  arrow::Status Close() override { return stream_->Close(); }
  bool closed() const override { return stream_->closed(); }
  arrow::Result<std::int64_t> Tell() const override { return stream_->Tell(); }
  std::string Digest() const override { return hash_.Digest(); }

 private:
  std::shared_ptr<arrow::io::OutputStream> stream_;
  Hasher hash_;
};

}  // namespace

arrow::Result<std::shared_ptr<HashingFile>> HashingFile::Create(const std::string& path) {
  // Whatever the mask of the process, not everybody may write to what a run is made of.
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0664);
  if (descriptor < 0) {
    return arrow::internal::IOErrorFromErrno(errno, "cannot create '", path, "'");
  }
  return std::make_shared<PosixHashingFile>(descriptor, path);
}

std::shared_ptr<HashingFile> HashingFile::Wrap(
    std::shared_ptr<arrow::io::OutputStream> stream) {
  return std::make_shared<WrappedHashingFile>(std::move(stream));
}

arrow::Status SyncParentDirectory(const std::string& path) {
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return arrow::internal::IOErrorFromErrno(errno, "cannot open directory '", directory,
                                             "'");
  }
  const bool synced = Sync(descriptor);
  const int error_number = errno;
  ::close(descriptor);
  if (!synced) {
    return arrow::internal::IOErrorFromErrno(error_number, "cannot sync directory '",
                                             directory, "'");
  }
  return arrow::Status::OK();
}

}  // namespace coden
