#pragma once

#include <cstdint>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/pipeline/schedule_pass.h"
#include "coden/settings/settings.h"
#include "coden/state/run_inputs.h"

namespace coden {

/// What a run will leave on disk.
struct DiskEstimate {
  std::int64_t snapshot_bytes = 0;  ///< of all snapshot files, as if all were full
  std::int64_t state_bytes = 0;     ///< of what the run needs to go on
  std::int64_t first_bytes = 0;     ///< of the first snapshot

  std::int64_t all_bytes() const { return snapshot_bytes + state_bytes; }
  /// What is written in any case: how many rows of later deltas will have moved is not
  /// known.
  std::int64_t least_bytes(const SnapshotOptions& snapshot) const {
    return snapshot.mode == SnapshotMode::kFull ? all_bytes() : first_bytes + state_bytes;
  }
};

/// Say what the run that `pass` has scheduled will write, by embedding some columns of
/// some snapshots and encoding them as the run will. Follows the history that `pass` has
/// staged in `store`; needs the memory of an embedding of 16 columns and writes nothing.
arrow::Result<DiskEstimate> EstimateDisk(const Settings& settings, RunInputs& inputs,
                                         const SchedulePassResult& pass,
                                         const RunStore& store,
                                         const RunContext& context);

/// The same for the snapshots of `schedule` after the first `num_done`, of which
/// `embedded` is the part: they take as many bytes a row as those that are there.
DiskEstimate EstimateDiskOfRest(const PartRecord& embedded, const Schedule& schedule,
                                int num_done);

}  // namespace coden
