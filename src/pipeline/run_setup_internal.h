// What every command on a run begins with.
#pragma once

#include <tbb/global_control.h>

#include <memory>

#include <arrow/result.h>
#include <arrow/util/thread_pool.h>

#include "coden/pipeline/pipeline.h"
#include "coden/pipeline/resources.h"
#include "coden/pipeline/settings.h"

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

}  // namespace coden
