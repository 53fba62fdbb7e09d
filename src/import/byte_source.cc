#include "import/byte_source_internal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/io/compressed.h>
#include <arrow/util/compression.h>
#include <arrow/util/io_util.h>

#include "coden/base/error.h"

namespace coden::importing {

namespace {

using namespace std::string_view_literals;

constexpr int kPollMilliseconds = 200;
constexpr std::size_t kMagicBytes = 6;

// Arrow's file streams ask for a size and seek, which pipes refuse.
class DescriptorStream : public arrow::io::InputStream {
 public:
  DescriptorStream(int descriptor, arrow::StopToken stop)
      : descriptor_(descriptor), stop_(std::move(stop)) {}
  ~DescriptorStream() override { arrow::Status ignored = Close(); }

  // Fill the first bytes, which are then read again as usual.
  arrow::Result<std::string_view> ReadHead() {
    head_.resize(kMagicBytes);
    std::size_t filled = 0;
    while (filled < head_.size()) {
      ARROW_ASSIGN_OR_RAISE(
          const std::int64_t count,
          ReadDescriptor(static_cast<std::int64_t>(head_.size() - filled),
                         head_.data() + filled));
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
    }
    head_.resize(filled);
    return std::string_view(head_);
  }

  const std::shared_ptr<std::atomic<std::int64_t>>& bytes_read() const { return bytes_; }

  arrow::Status Close() override {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
    descriptor_ = -1;
    return arrow::Status::OK();
  }
  bool closed() const override { return descriptor_ < 0; }
  arrow::Result<std::int64_t> Tell() const override { return position_; }

  arrow::Result<std::int64_t> Read(std::int64_t num_bytes, void* out) override {
    const auto from_head = std::min<std::int64_t>(
        num_bytes, static_cast<std::int64_t>(head_.size()) - position_);
    if (from_head > 0) {
      std::memcpy(out, head_.data() + position_, static_cast<std::size_t>(from_head));
      position_ += from_head;
      return from_head;
    }
    ARROW_ASSIGN_OR_RAISE(const std::int64_t count, ReadDescriptor(num_bytes, out));
    position_ += count;
    return count;
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t num_bytes) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(num_bytes));
    ARROW_ASSIGN_OR_RAISE(const std::int64_t count,
                          Read(num_bytes, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(count));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }

 private:
  arrow::Result<std::int64_t> ReadDescriptor(std::int64_t num_bytes, void* out) {
    while (true) {
      ARROW_RETURN_NOT_OK(stop_.Poll());
      pollfd waiting{descriptor_, POLLIN, 0};
      if (::poll(&waiting, 1, kPollMilliseconds) == 0) continue;
      const ssize_t count = ::read(descriptor_, out, static_cast<std::size_t>(num_bytes));
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count < 0) return arrow::internal::IOErrorFromErrno(errno, "read failed");
      *bytes_ += count;
      return count;
    }
  }

  int descriptor_;
  arrow::StopToken stop_;
  std::string head_;
  std::int64_t position_ = 0;
  std::shared_ptr<std::atomic<std::int64_t>> bytes_ =
      std::make_shared<std::atomic<std::int64_t>>(0);
};

arrow::Result<arrow::Compression::type> CompressionOf(std::string_view head,
                                                      const std::string& name) {
  if (head.starts_with("\x1f\x8b"sv)) return arrow::Compression::GZIP;
  if (head.starts_with("\x28\xb5\x2f\xfd"sv)) return arrow::Compression::ZSTD;
  if (head.starts_with("BZh"sv)) return arrow::Compression::BZ2;
  if (head.starts_with("\x04\x22\x4d\x18"sv)) return arrow::Compression::LZ4_FRAME;
  if (head.starts_with("PAR1"sv)) {
    return InputError(name,
                      " is a Parquet file: nothing to import, give it as `input.edges`");
  }
  for (const auto& [magic, kind] :
       {std::pair{"PK\x03\x04"sv, "a zip archive"},
        std::pair{"\xfd\x37zXZ"sv, "compressed with xz"},
        std::pair{"\xff\xfe"sv, "UTF-16 text"}, std::pair{"\xfe\xff"sv, "UTF-16 text"}}) {
    if (head.starts_with(magic)) {
      return InputError(name, " is ", kind,
                        "; give plain UTF-8 text, or that compressed with gzip, zstd or "
                        "bzip2");
    }
  }
  return arrow::Compression::UNCOMPRESSED;
}

}  // namespace

std::string ShownName(const std::string& path) {
  return path == "-" ? "standard input" : "'" + path + "'";
}

arrow::Result<ByteSource> OpenBytes(const std::string& path, arrow::StopToken stop) {
  const std::string name = ShownName(path);
  const int descriptor =
      path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return InputError("cannot open ", name, ": ", std::strerror(errno));
  }
  auto raw = std::make_shared<DescriptorStream>(descriptor, std::move(stop));
  struct stat status{};
  ByteSource source;
  if (::fstat(descriptor, &status) == 0) {
    if (S_ISDIR(status.st_mode)) return InputError(name, " is a folder; give a file");
    if (S_ISREG(status.st_mode)) source.size = status.st_size;
  }
  source.bytes_read = raw->bytes_read();
  ARROW_ASSIGN_OR_RAISE(const std::string_view head, raw->ReadHead());
  ARROW_ASSIGN_OR_RAISE(const auto compression, CompressionOf(head, name));
  source.stream = raw;
  if (compression != arrow::Compression::UNCOMPRESSED) {
    ARROW_ASSIGN_OR_RAISE(const auto codec, arrow::util::Codec::Create(compression));
    ARROW_ASSIGN_OR_RAISE(source.stream,
                          arrow::io::CompressedInputStream::Make(codec.get(), raw));
  }
  return source;
}

}  // namespace coden::importing
