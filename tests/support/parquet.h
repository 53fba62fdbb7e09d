#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

namespace coden {

/// Make an array of `type` from JSON: ArrayOf(arrow::int64(), "[1, null]").
inline std::shared_ptr<arrow::Array> ArrayOf(const std::shared_ptr<arrow::DataType>& type,
                                             const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

/// Make a table from columns: TableOf({{"src", array}, ...}).
inline std::shared_ptr<arrow::Table> TableOf(
    const std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [name, array] : columns) {
    fields.push_back(arrow::field(name, array->type()));
    arrays.push_back(array);
  }
  return arrow::Table::Make(arrow::schema(fields), arrays);
}

/// Write `table` to `path` in row groups of at most `row_group_rows`; return `path`.
inline std::string WriteParquet(const std::string& path, const arrow::Table& table,
                                std::int64_t row_group_rows = 1 << 20) {
  auto file = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  const auto properties = std::make_unique<parquet::WriterProperties::Builder>();
  properties->enable_page_checksum();
  const arrow::Status status = parquet::arrow::WriteTable(
      table, arrow::default_memory_pool(), file, row_group_rows, properties->build(),
      parquet::ArrowWriterProperties::Builder().store_schema()->build());
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_TRUE(file->Close().ok());
  return path;
}

/// Write a file whose columns are JSON arrays of int64, the usual shape of a log:
/// WriteIntegers(path, {{"src", "[1, 2]"}, ...}).
inline std::string WriteIntegers(
    const std::string& path,
    const std::vector<std::pair<std::string, std::string>>& columns) {
  std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>> arrays;
  for (const auto& [name, json] : columns) {
    arrays.emplace_back(name, ArrayOf(arrow::int64(), json));
  }
  return WriteParquet(path, *TableOf(arrays));
}

}  // namespace coden
