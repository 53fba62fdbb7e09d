#pragma once

#include <string>

#include "coden/report/results_table.h"
#include "coden/store/manifest.h"

namespace coden {

/// What became of the rows of the inputs of a run: a row for every count that its parts
/// have.
ResultsTable CountsTable(const Manifest& manifest);

/// The result of a command on a run. JSON is an object with the rows of `table` as
/// "results" and those of CountsTable as "input_counts"; the other formats have the table
/// alone.
std::string RenderWithCounts(const ResultsTable& table, const Manifest& manifest,
                             TableFormat format);

}  // namespace coden
