#pragma once

#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/embed/solve_work.h"
#include "coden/store/file_record.h"
#include "coden/store/run_store.h"

namespace coden {

/// The schema of work.parquet (schemas/work.csv).
std::shared_ptr<arrow::Schema> WorkSchema();

/// Write what each snapshot took, from the first one on, into the stage of the run.
arrow::Result<FileRecord> StageWork(RunStore& store, const std::vector<SolveWork>& work);

/// Read it back. What is missing, in a run that was made before there was such a file, is
/// filled in with zeros up to `num_snapshots`; what is more is left out.
arrow::Result<std::vector<SolveWork>> LoadWork(const RunStore& store,
                                               const FileRecord* record,
                                               int num_snapshots);

}  // namespace coden
