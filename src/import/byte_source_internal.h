#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/util/cancel.h>

namespace coden::importing {

/// An open input: its text, and how far into the file reading has come.
struct ByteSource {
  std::shared_ptr<arrow::io::InputStream> stream;  ///< after decompression
  std::int64_t size = 0;                           ///< of the file; 0 where not known
  std::shared_ptr<std::atomic<std::int64_t>> bytes_read;  ///< of the file
};

/// Open a file, a pipe, or standard input for `-`. What is compressed (gzip, zstd, bzip2,
/// lz4) is told by its first bytes, not by its name, and decompressed while it is read. A
/// read that waits for a silent pipe ends when `stop` asks for it.
arrow::Result<ByteSource> OpenBytes(const std::string& path, arrow::StopToken stop);

/// How messages call the input.
std::string ShownName(const std::string& path);

}  // namespace coden::importing
