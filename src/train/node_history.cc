// Snapshots come one after another as rows of channels, and are read as whole histories
// of single nodes. The turn from one order to the other is made segment by segment: as
// many snapshots as are held are collected as [nodes, snapshots, channels] and turned
// node by node, in a block that fits in cache. With a file a segment is then written as
// it is, and the history of a node is one read per segment.

#include "train/node_history_internal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "coden/base/error.h"

namespace coden {

namespace {

arrow::Status FileError(const char* what) {
  const int error = errno;
  const std::string message =
      "cannot " + std::string(what) +
      " the temporary file of the training histories: " + std::strerror(error);
  if (error == ENOSPC || error == EDQUOT) return ResourceError(message);
  return arrow::Status::IOError(message);
}

arrow::Result<int> OpenUnnamed(const std::string& folder) {
  std::string name = folder + "/histories-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return FileError("make");
  ::unlink(name.c_str());
  return file;
}

// Call `transfer(bytes done)` until `size` bytes are through.
template <typename Transfer>
bool TransferAll(std::size_t size, const Transfer& transfer) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = transfer(done);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = EIO;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

arrow::Result<std::unique_ptr<NodeHistory>> NodeHistory::Make(const Shape& shape,
                                                              std::int64_t held_snapshots,
                                                              const std::string& folder) {
  const bool spills = held_snapshots > 0 && held_snapshots < shape.snapshots;
  std::unique_ptr<NodeHistory> history(
      new NodeHistory(shape, spills ? held_snapshots : shape.snapshots));
  if (spills) {
    ARROW_ASSIGN_OR_RAISE(history->file_, OpenUnnamed(folder));
  }
  history->held_.assign(
      static_cast<std::size_t>(shape.nodes * shape.channels * history->held_snapshots_),
      0.0f);
  return history;
}

NodeHistory::~NodeHistory() {
  if (file_ >= 0) ::close(file_);
}

float* NodeHistory::Row(std::int64_t node) {
  const std::int64_t at = num_filled_ % held_snapshots_;
  return held_.data() + (node * held_snapshots_ + at) * shape_.channels;
}

arrow::Status NodeHistory::EndSnapshot() {
  ++num_filled_;
  const bool full = num_filled_ % held_snapshots_ == 0;
  return full || num_filled_ == shape_.snapshots ? EndSegment() : arrow::Status::OK();
}

arrow::Status NodeHistory::EndSegment() {
  const std::int64_t width = (num_filled_ - 1) % held_snapshots_ + 1;
  const std::int64_t node_size = shape_.channels * held_snapshots_;
  std::vector<float> block(static_cast<std::size_t>(node_size));
  for (std::int64_t node = 0; node < shape_.nodes; ++node) {
    float* held = held_.data() + node * node_size;
    std::copy(held, held + node_size, block.data());
    for (std::int64_t channel = 0; channel < shape_.channels; ++channel) {
      for (std::int64_t s = 0; s < width; ++s) {
        held[channel * held_snapshots_ + s] = block[s * shape_.channels + channel];
      }
    }
  }
  if (file_ < 0) return arrow::Status::OK();
  const auto* bytes = reinterpret_cast<const char*>(held_.data());
  const std::size_t size = held_.size() * sizeof(float);
  if (!TransferAll(size, [&](std::size_t done) {
        return ::write(file_, bytes + done, size - done);
      })) {
    return FileError("write");
  }
  std::fill(held_.begin(), held_.end(), 0.0f);
  if (num_filled_ == shape_.snapshots) held_ = {};
  return arrow::Status::OK();
}

arrow::Status NodeHistory::Read(std::int64_t node, std::int64_t num_snapshots,
                                float* out) const {
  const std::int64_t node_size = shape_.channels * held_snapshots_;
  const auto copy = [&](const float* from, std::int64_t first) {
    const std::int64_t width = std::min(held_snapshots_, num_snapshots - first);
    for (std::int64_t channel = 0; channel < shape_.channels; ++channel) {
      std::copy_n(from + channel * held_snapshots_, width,
                  out + channel * num_snapshots + first);
    }
  };
  if (file_ < 0) {
    copy(held_.data() + node * node_size, 0);
    return arrow::Status::OK();
  }
  std::vector<float> block(static_cast<std::size_t>(node_size));
  const std::size_t size = block.size() * sizeof(float);
  for (std::int64_t first = 0; first < num_snapshots; first += held_snapshots_) {
    const std::int64_t segment = first / held_snapshots_;
    const auto offset =
        static_cast<off_t>((segment * shape_.nodes + node) * node_size * sizeof(float));
    auto* bytes = reinterpret_cast<char*>(block.data());
    if (!TransferAll(size, [&](std::size_t done) {
          return ::pread(file_, bytes + done, size - done,
                         offset + static_cast<off_t>(done));
        })) {
      return FileError("read");
    }
    copy(block.data(), first);
  }
  return arrow::Status::OK();
}

}  // namespace coden
