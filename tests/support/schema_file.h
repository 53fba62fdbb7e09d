// Compare an arrow::Schema with its description in schemas/: column, type, nullable,
// meaning.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <arrow/type.h>

namespace coden::test {

/// "column type nullable" of every line of schemas/`name`.csv, without the header.
inline std::vector<std::string> DescribedColumns(const std::string& name) {
  const char* root = std::getenv("CODEN_SOURCE_ROOT");
  std::ifstream file(std::string(root == nullptr ? "." : root) + "/schemas/" + name +
                     ".csv");
  EXPECT_TRUE(file.good()) << "schemas/" << name << ".csv";
  std::vector<std::string> columns;
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "column,type,nullable,meaning");
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string column, type, nullable;
    std::getline(fields, column, ',');
    // A type with a comma in it stands in quotes.
    const bool quoted = fields.peek() == '"';
    if (quoted) fields.ignore();
    std::getline(fields, type, quoted ? '"' : ',');
    if (quoted) fields.ignore();
    std::getline(fields, nullable, ',');
    columns.push_back(column + " " + type + " " + nullable);
  }
  return columns;
}

inline void CheckSchemaFile(const arrow::Schema& schema, const std::string& name) {
  SCOPED_TRACE("schemas/" + name + ".csv");
  std::vector<std::string> columns;
  for (const auto& field : schema.fields()) {
    columns.push_back(field->name() + " " + field->type()->ToString() + " " +
                      (field->nullable() ? "yes" : "no"));
  }
  EXPECT_EQ(columns, DescribedColumns(name));
}

}  // namespace coden::test
