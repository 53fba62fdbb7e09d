#pragma once

#include <functional>
#include <optional>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/pipeline/disk_estimate.h"
#include "coden/pipeline/schedule_pass.h"
#include "coden/plan/resources.h"
#include "coden/settings/settings.h"
#include "coden/store/manifest.h"
#include "coden/train/rank_group.h"
#include "coden/train/train.h"

namespace coden {

/// Which parts of the pipeline to bring up to date.
enum class Goal {
  kSchedule,  ///< read to schedule; slices of it are then embedded by others
  kCommit,    ///< snapshots from slices that are all there
  kEmbed,     ///< read to snapshot
  kTrain,     ///< train, on the snapshots there are
  kAll,       ///< kEmbed and kTrain; training is left out where there are no labels
};

/// The training stage. It is handed in, so that this library does not depend on LibTorch.
using TrainStage = std::function<arrow::Result<TrainSummary>(
    const Settings&, RunStore&, const TrainMemory&, const RunContext&)>;

struct RunRequest {
  Goal goal = Goal::kAll;
  bool force = false;   ///< rebuild what is there instead of refusing or skipping
  bool resume = false;  ///< refuse to start a training: go on with an interrupted one
  TrainStage train;     ///< none in a build without training
  /// The processes that train together, each with the same call; null: this one alone.
  /// Ranks other than 0 only read the run, and return the manifest that they began with.
  RankGroup* ranks = nullptr;
};

/// Bring the run directory up to date and publish a manifest for every part that was run.
/// A part whose fingerprint is unchanged is skipped. A directory that holds another run,
/// or something else, is refused.
arrow::Result<Manifest> RunPipeline(const Settings& settings, const RunRequest& request,
                                    const RunContext& context);

/// Whether `settings` ask for some of the columns that their run directory holds an open
/// schedule for (Goal::kSchedule): a slice of that run, not a run of its own.
arrow::Result<bool> AsksForSlice(const Settings& settings);

/// Embed that slice. Any number of processes may do so at the same time, each slice any
/// number of times: one that is there is left alone.
arrow::Status RunSlice(const Settings& settings, const RunContext& context);

/// The first pass alone, with what the second would need.
struct PipelinePlan {
  SchedulePassResult scheduled;
  ResourceEstimate resources;
  /// None where not even a sample of the columns fits in memory.
  std::optional<DiskEstimate> disk;
  std::int64_t num_rows = 0;
  std::int64_t num_nodes = 0;
  int num_columns = 0;
};
arrow::Result<PipelinePlan> PlanPipeline(const Settings& settings,
                                         const RunContext& context);

}  // namespace coden
