// What every command on a run begins with.
#pragma once

#include <tbb/global_control.h>

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/thread_pool.h>

#include "coden/pipeline/pipeline.h"
#include "coden/plan/resources.h"
#include "coden/settings/settings.h"
#include "coden/store/commit.h"

namespace coden {

/// `run.threads` for TBB, for as long as the object lives, and for Arrow.
class RunThreads {
 public:
  static arrow::Result<std::unique_ptr<RunThreads>> Take(const Settings& settings) {
    ARROW_RETURN_NOT_OK(arrow::SetCpuThreadPoolCapacity(NumThreads(settings)));
    return std::unique_ptr<RunThreads>(new RunThreads(NumThreads(settings)));
  }

 private:
  explicit RunThreads(int threads)
      : tbb_(tbb::global_control::max_allowed_parallelism,
             static_cast<std::size_t>(threads)) {}

  tbb::global_control tbb_;
};

/// Labels and a split that nobody asks for need not be there.
inline Settings WithoutIdleLabels(Settings settings, Goal goal) {
  const bool trains = goal == Goal::kTrain || goal == Goal::kAll;
  if (!trains && settings.snapshot.nodes == SnapshotNodes::kAll)
    settings.input.labels.clear();
  if (!trains && settings.train.split_by == SplitKind::kFile) {
    settings.train.split_by = SplitKind::kSeed;
    settings.input.split.clear();
  }
  return settings;
}

/// Before `parts` are made anew with --force: a file of theirs that is not what was
/// written is kept, for it may be the user's.
inline arrow::Status KeepChangedFiles(RunStore& store,
                                      const std::vector<PartRecord>& parts,
                                      const RunContext& context) {
  std::vector<FileRecord> files;
  for (const PartRecord& part : parts)
    files.insert(files.end(), part.files.begin(), part.files.end());
  ARROW_ASSIGN_OR_RAISE(const std::string folder, SetChangedFilesAside(store, files));
  if (!folder.empty()) {
    context.progress->Warn("files that are not what the run wrote are kept in '" +
                           store.Show(folder) +
                           "'; remove the folder where nobody needs them");
  }
  return arrow::Status::OK();
}

}  // namespace coden
