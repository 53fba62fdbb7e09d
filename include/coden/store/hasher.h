#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <arrow/io/type_fwd.h>
#include <arrow/result.h>

namespace coden {

/// The xxh3 of a sequence of bytes that comes in pieces. Does not depend on the cuts.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void Update(const void* data, std::size_t size);
  /// 16 hexadecimal digits for what has come so far.
  std::string Digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The digest of one piece.
std::string HashOf(const void* data, std::size_t size);

/// The digest of all bytes of a file.
arrow::Result<std::string> HashFile(arrow::io::RandomAccessFile& file);

}  // namespace coden
