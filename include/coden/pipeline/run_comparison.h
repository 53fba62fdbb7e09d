#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/report/results_table.h"

namespace coden {

struct RunComparison {
  std::vector<ResultsTable>
      tables;  ///< `runs`, `stages` (seconds), `settings` that differ
  std::vector<std::string> warnings;  ///< why scores of the runs cannot be compared
  std::string html;                   ///< the same as a page with charts
};

/// Put finished runs side by side, without changing them. `directories` are paths or
/// URIs; one that holds no run is an error.
arrow::Result<RunComparison> CompareRuns(const std::vector<std::string>& directories);

/// An error where there is a file at `path` that this program has not written as a page.
arrow::Status CheckNoOtherPage(const std::string& path);

/// Write `text` to a file, path or URI, that appears whole or not at all.
arrow::Status WriteWholeFile(const std::string& path, const std::string& text);

}  // namespace coden
