#pragma once

#include <arrow/result.h>

#include "coden/embed/embedder.h"
#include "coden/state/run_progress.h"
#include "coden/store/run_store.h"

namespace coden {

/// Write the numbers of an embedder's engine, whose columns are `columns` of the run:
/// state/columns-0.parquet, a row for each connected node.
arrow::Result<FileRecord> StageColumns(RunStore& store, const Embedder& embedder,
                                       const ColumnRange& columns);

/// Bring the engine of a new embedder of `columns` to where the saved ones were, with the
/// same bits. The graph must be there again (LoadGraph), and the features be those of
/// then. The columns may be cut into files in another way.
arrow::Status LoadColumns(const RunStore& store, const RunProgress& progress,
                          const ColumnRange& columns, Embedder& embedder);

}  // namespace coden
