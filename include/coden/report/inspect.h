#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/report/results_table.h"

namespace coden {

/// Say what `path` holds: a Parquet input or snapshot (file, folder, glob or URI), a run
/// directory, a model folder or its .safetensors file. The first table sums it up, the
/// others list columns, parts, tensors and settings.
///
/// Reads footers, headers and small files only, except for the time range of a log whose
/// footer does not tell it. A damaged file of a run or a model is a corruption error, any
/// other damaged file an input error, and so is what is none of these.
arrow::Result<std::vector<ResultsTable>> Inspect(const std::string& path);

}  // namespace coden
