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

/// A table of properties and their values.
class FactsTable {
 public:
  explicit FactsTable(std::string title);
  void Add(std::string property, Cell value);
  ResultsTable Take() { return std::move(table_); }

 private:
  ResultsTable table_;
};

/// A table of the settings in `text`, lines `section.key = value`, that are not the
/// default.
ResultsTable SettingsTable(std::string_view text);

}  // namespace coden
