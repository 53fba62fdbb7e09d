#pragma once

#include <cstdint>
#include <string>

namespace coden {

/// What a manifest says of a file.
struct FileRecord {
  std::string path;  ///< relative to the run directory
  std::int64_t size = 0;
  std::int64_t rows = 0;
  std::string xxh3;  ///< of the whole file, 16 hexadecimal digits
  /// Where the file waits until the manifest that names it is published; empty once it is
  /// at `path`.
  std::string staged = {};
};

}  // namespace coden
