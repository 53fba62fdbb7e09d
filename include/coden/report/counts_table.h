#pragma once

#include "coden/report/results_table.h"
#include "coden/store/manifest.h"

namespace coden {

/// What became of the rows of the inputs of a run: a row for every count that its parts
/// have.
ResultsTable CountsTable(const Manifest& manifest);

}  // namespace coden
