#pragma once

#include <span>
#include <string>

#include <arrow/result.h>

#include "coden/embed/embedder.h"
#include "coden/state/run_progress.h"
#include "coden/store/run_store.h"

namespace coden {

/// A file of the state and the columns it holds.
struct ColumnFile {
  std::string name;
  ColumnRange columns;
};

/// Write the numbers of an engine as the state of the columns of `file`, a row for each
/// connected node.
arrow::Result<FileRecord> StageColumns(RunStore& store, const ColumnFile& file,
                                       const EmbeddingEngine& engine);

/// Bring an engine of `columns` on `graph` to where the ones saved in `files` were, with
/// the same bits. `memory` is of `columns`; the rest of what Restore asks for must hold.
arrow::Status LoadColumns(const RunStore& store, std::span<const ColumnFile> files,
                          const EngineMemory& memory, const ColumnRange& columns,
                          const SnapshotGraph& graph, EmbeddingEngine& engine);

/// Write the numbers of an embedder's engine, whose columns are `columns` of the run:
/// state/columns-0.parquet.
arrow::Result<FileRecord> StageColumns(RunStore& store, const Embedder& embedder,
                                       const ColumnRange& columns);

/// Bring the engine of a new embedder of `columns` to where the saved ones were, with the
/// same bits. Its graph and features must be those of then. The columns may be cut into
/// files in another way.
arrow::Status LoadColumns(const RunStore& store, const RunProgress& progress,
                          const ColumnRange& columns, Embedder& embedder);

}  // namespace coden
