#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "check.h"

namespace coden::fuzz {

/// A folder of this process, in memory where the system has such a place, which goes when
/// it ends.
class Scratch {
 public:
  Scratch() {
    std::error_code error;
    const bool in_memory = std::filesystem::is_directory("/dev/shm", error);
    const std::filesystem::path base =
        in_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    path_ = base / ("coden-fuzz-" + std::to_string(::getpid()));
    Clear();
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path() const { return path_.string(); }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

  /// Leave the folder empty.
  void Clear() {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }

  std::string Write(std::string_view name, std::string_view bytes) const {
    const auto path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    FUZZ_CHECK(file.good(), "cannot write " + path.string());
    return path.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace coden::fuzz
