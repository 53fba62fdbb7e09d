#pragma once

#include <cstdint>

#include <arrow/status.h>

#include "coden/sample/schedule.h"
#include "coden/settings/settings.h"

namespace coden {

/// What the memory of a training depends on, besides settings and schedule.
struct TrainingSize {
  std::int64_t nodes = 0;    ///< labelled, in the snapshots
  std::int64_t classes = 0;  ///< of their labels
  std::int64_t facts = 0;    ///< rows of the labels
  int columns = 0;           ///< of a snapshot
};

/// What a training takes, and how much it holds at a time so that it keeps the limit.
struct TrainingNeeds {
  std::int64_t memory_bytes = 0;     ///< peak of the process while it trains
  std::int64_t cache_bytes = 0;      ///< of snapshots kept for it, beside the embedding
  std::int64_t temporary_bytes = 0;  ///< of the file of histories that do not fit
  std::int64_t held_snapshots = 0;   ///< of the histories, at a time; 0: all
  std::int64_t control_classes = 0;  ///< that label propagation takes in one replay
};

/// Plan a training on the snapshots of `schedule` for `run.memory_limit`: with all
/// histories in memory where they fit, otherwise with as many snapshots of them as do.
/// Where not even one fits, the needs are those of one, which are above the limit.
TrainingNeeds PlanTraining(const Settings& settings, const Schedule& schedule,
                           const TrainingSize& size);

/// Refuse a training that needs more memory than `run.memory_limit`, or than the machine
/// has, or more disk for its histories than is free below `run.directory`.
arrow::Status CheckTraining(const Settings& settings, const TrainingNeeds& needs);

/// Memory of a process that trains or predicts, before it has read anything: libraries,
/// and what these keep for themselves once they have computed.
std::int64_t TrainingProcessBytes();

/// The snapshots that a model reads: all of them up to the last prediction time, or those
/// at prediction times alone.
Schedule SnapshotsOfTraining(const Settings& settings, const Schedule& schedule);

}  // namespace coden
