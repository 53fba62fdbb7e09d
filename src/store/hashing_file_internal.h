#pragma once

#include <memory>
#include <string>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>

namespace coden {

/// A file being written, which computes the xxh3 of everything that goes into it and
/// reaches the disk before Close returns.
class HashingFile : public arrow::io::OutputStream {
 public:
  /// Create `path`, which must not exist, readable by its owner's usual mode.
  static arrow::Result<std::shared_ptr<HashingFile>> Create(const std::string& path);
  /// Write to `stream`, which is durable once it is closed.
  static std::shared_ptr<HashingFile> Wrap(
      std::shared_ptr<arrow::io::OutputStream> stream);

  /// Hexadecimal digest of what was written so far.
  virtual std::string Digest() const = 0;
};

/// Sync the directory that holds `path`, so that a rename into it survives a crash.
arrow::Status SyncParentDirectory(const std::string& path);

}  // namespace coden
