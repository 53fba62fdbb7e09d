#pragma once

#include <cstdint>
#include <vector>

#include "coden/sample/schedule.h"
#include "coden/settings/embed_options.h"
#include "coden/settings/settings.h"

namespace coden {

/// How large a run is, for what it costs: of a log that is here, or of one that somebody
/// describes.
struct CostSize {
  std::int64_t rows = 0;           ///< of the log
  std::int64_t log_bytes = 0;      ///< of its files
  std::int64_t feature_bytes = 0;  ///< of the features and their updates
  std::int64_t nodes = 0;
  std::int64_t id_bytes = 0;  ///< of the map from ids to nodes
  std::int64_t num_labelled = 0;
  ColumnRange columns;
  Schedule schedule;
  int num_done = 0;  ///< snapshots of it that are there
};

/// What is known of a log that is not here.
struct DescribedLog {
  std::int64_t nodes = 0;
  std::int64_t edges = 0;
  int columns = 0;
  int snapshots = 0;
  std::int64_t labelled = 0;  ///< nodes with a label; 0: all
};

/// The size of such a log: dense ids, edges that come evenly, snapshots spread over them.
CostSize DescribedSize(const DescribedLog& log, const Settings& settings);

/// What one process needs for one step.
struct StepCost {
  std::int64_t memory_bytes = 0;
  std::int64_t read_bytes = 0;
  std::int64_t write_bytes = 0;
  double seconds = 0.0;
};

struct SliceCost {
  ColumnRange columns;
  StepCost cost;
};

/// What a run in slices needs: `coden schedule`, `coden embed` once a slice, `coden
/// commit`.
struct RunCost {
  StepCost schedule;
  std::vector<SliceCost> slices;
  StepCost commit;

  /// Of one machine that does one after another, with the largest memory.
  StepCost InTurn() const;
  /// The same where every slice has a worker: only the seconds are fewer.
  StepCost AtOnce() const;
};

/// Cut `columns` into `count` slices, or as many as there are columns, that are as even
/// as whole blocks of the solver allow.
std::vector<ColumnRange> CutColumns(const ColumnRange& columns, int count);

/// Say what a run costs in `slices` slices with `run.threads` each. Memory, reads and
/// writes are bounds; seconds are those of the machine of docs/scaling.md.
RunCost EstimateCost(const Settings& settings, const CostSize& size, int slices);

}  // namespace coden
