// What the generator tests share: a directory that goes away, and columns as vectors.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/table.h>
#include <gtest/gtest.h>

#include "coden/base/error.h"
#include "coden/base/progress.h"
#include "coden/store/parquet_file.h"

namespace coden {

class GeneratedFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::temp_directory_path() /
            ("coden_" + std::string(test->test_suite_name()) + "_" + test->name());
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string Directory(const std::string& name) const { return (root_ / name).string(); }

  static std::string Bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.good()) << path;
    return {std::istreambuf_iterator<char>(file), {}};
  }

  template <typename Array>
  static auto Column(const std::string& path, const std::string& name) {
    std::vector<typename Array::value_type> values;
    const auto table = ReadParquetFile(path, {name}).ValueOrDie();
    for (const auto& chunk : table->column(0)->chunks()) {
      for (const auto value : static_cast<const Array&>(*chunk)) values.push_back(*value);
    }
    return values;
  }

  static std::vector<float> Features(const std::string& path) {
    std::vector<float> values;
    const auto table = ReadParquetFile(path, {"x"}).ValueOrDie();
    for (const auto& chunk : table->column(0)->chunks()) {
      const auto flat =
          static_cast<const arrow::FixedSizeListArray&>(*chunk).Flatten().ValueOrDie();
      for (const auto value : static_cast<const arrow::FloatArray&>(*flat)) {
        values.push_back(*value);
      }
    }
    return values;
  }

  template <typename Result>
  static void ExpectRejected(const Result& result, const std::string& message) {
    ASSERT_FALSE(result.ok()) << message;
    EXPECT_EQ(result.status().message(), message);
    EXPECT_EQ(FaultOf(result.status()), Fault::kUsage);
  }

  /// Every default reads back as itself; every flag has a rule and a sentence of help.
  template <typename Options>
  static void CheckFlags() {
    for (const auto& flag : Options::Flags()) {
      SCOPED_TRACE(flag.key);
      EXPECT_FALSE(flag.rule.empty());
      EXPECT_TRUE(flag.help.ends_with('.'));
      Options options;
      if (flag.key == "out") {
        EXPECT_EQ(flag.default_text, "");
      } else {
        ASSERT_TRUE(flag.set(options, flag.default_text).ok());
        EXPECT_EQ(flag.get(options), flag.default_text);
      }
    }
  }

  SilentProgress progress_;
  RunContext context_{&progress_};

 private:
  std::filesystem::path root_;
};

}  // namespace coden
