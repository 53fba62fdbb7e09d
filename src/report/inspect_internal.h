// What Inspect is made of: one function for each thing that can be looked at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "coden/report/results_table.h"

namespace coden {

using Tables = std::vector<ResultsTable>;

arrow::Result<Tables> InspectParquet(const std::string& path);
arrow::Result<Tables> InspectRun(const std::string& directory);
arrow::Result<Tables> InspectModel(const std::string& folder);
arrow::Result<Tables> InspectSafetensors(const std::string& file);

/// What is known of one thing, as a record.
class FactsTable {
 public:
  FactsTable(std::string key, std::string title);
  /// `key` is the name of the fact in JSON and CSV, `property` for people.
  void Add(std::string key, std::string property, Cell value,
           ColumnType type = ColumnType::kText);
  ResultsTable Take() { return std::move(table_); }

 private:
  ResultsTable table_;
};

/// A table of the settings in `text`, lines `section.key = value`, that are not the
/// default.
ResultsTable SettingsTable(std::string_view text);

}  // namespace coden
