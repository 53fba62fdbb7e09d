#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace coden {

/// A folder of the current test, empty at first and removed at its end.
class TempDir {
 public:
  TempDir() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(::testing::TempDir()) /
            ("coden." + std::to_string(::getpid()) + "." + info->test_suite_name() + "." +
             info->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  /// The path of `name` inside; its folders are made.
  std::string operator/(const std::string& name) const {
    const auto path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    return path.string();
  }
  std::string path() const { return path_.string(); }

  /// Write `text` to the file `name` and return its path.
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = *this / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace coden
