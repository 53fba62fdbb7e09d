#pragma once

#include <span>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/import/import.h"

namespace coden {

/// Options of the importer for TGL's data sets. `file` is the folder, or its edges.csv.
struct TglOptions : ImportOptions {
  static std::span<const ImportFlag<TglOptions>> Flags();
};

/// Write TGL's edges.csv (columns src, dst and time by their names) as edges.parquet in
/// the directory `out`, and labels.csv (node, time, label), where the folder has one, as
/// labels.parquet. The split `ext_roll` and the index are not imported: coden predicts at
/// times of its own. A file in place of the folder gives the edges alone. Otherwise as
/// ImportEdgeList.
arrow::Result<ImportSummary> ImportTgl(const TglOptions& options,
                                       const RunContext& context);

}  // namespace coden
