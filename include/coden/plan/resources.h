#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <arrow/status.h>

#include "coden/plan/training_needs.h"
#include "coden/sample/schedule.h"
#include "coden/settings/settings.h"
#include "coden/state/run_inputs.h"

namespace coden {

/// What a run will need, known after the first pass and before the second.
struct ResourceEstimate {
  std::int64_t memory_bytes = 0;      ///< peak of the embedding
  std::int64_t first_pass_bytes = 0;  ///< peak of the first pass over the log
  std::int64_t kept_bytes = 0;        ///< beside it, of snapshots that training will read
  std::int64_t disk_bytes = 0;        ///< all snapshot files and the state, at most
  std::int64_t temporary_bytes = 0;   ///< more disk, until the embedding ends
  int columns_per_pass = 0;           ///< of the embedding; the last pass may have fewer
  int num_passes = 1;                 ///< of the embedding over the log
  std::optional<TrainingNeeds> training;  ///< of the training that follows, if any

  /// Disk that the run gives back at its end. The slices of the embedding are gone
  /// before the training puts its histories into a file.
  std::int64_t temporary_disk_bytes() const {
    return std::max(temporary_bytes, training ? training->temporary_bytes : 0);
  }
  /// Peak of the process.
  std::int64_t peak_bytes() const {
    return std::max({memory_bytes + kept_bytes, first_pass_bytes,
                     training ? training->memory_bytes : 0});
  }
};

/// What the memory of a pass depends on, besides the columns it takes.
struct EmbeddingSize {
  std::int64_t rows = 0;  ///< of the log
  std::int64_t nodes = 0;
  std::int64_t id_bytes = 0;       ///< of the map from ids to nodes
  std::int64_t arcs = 0;           ///< of the largest graph
  std::int64_t arcs_before = 0;    ///< of the snapshot before it
  std::int64_t snapshot_rows = 0;  ///< of the largest snapshot
  std::int64_t all_rows = 0;       ///< of all snapshots
  std::int64_t edges = 0;          ///< most at one time
  std::int64_t changes = 0;        ///< of the graph, most between two snapshots
  std::int64_t pending_bytes = 0;  ///< of edges that the first pass will let expire
  int columns = 0;                 ///< of a snapshot
  int threads = 1;
  bool in_double = false;  ///< `embed.epsilon` is below what float32 can hold
  bool symmetric = false;  ///< `graph.directed` is off
  bool in_deltas = false;  ///< the writer holds the last full snapshot and the next one
};

/// The size of a run with this schedule, of which the first `num_done` snapshots are
/// there: what is still to be made, on the graph that those leave. `num_labelled` bounds
/// the rows of a snapshot with `snapshot.nodes = labelled`.
EmbeddingSize EmbeddingSizeOf(const Settings& settings, std::int64_t nodes,
                              std::int64_t id_bytes, int columns,
                              const Schedule& schedule, std::int64_t num_labelled,
                              int num_done = 0);

/// Memory of a process that has read a log of `rows` rows and features of `nodes` nodes
/// in `columns` columns, beside what it keeps of them: libraries, rows on their way, and
/// what writing files takes.
std::int64_t ProcessBytes(std::int64_t rows, std::int64_t nodes, int columns);

/// Memory that the solver and its graph take for a slice of `columns` columns.
std::int64_t EmbeddingBytes(const EmbeddingSize& size, int columns);

/// Memory that label columns take: `engines_per_window` engines with `columns` columns
/// each, on a graph for every one of `windows` (0: edges do not expire) that follows
/// `schedule`.
std::int64_t LabelEngineBytes(const Settings& settings, const Schedule& schedule,
                              const std::vector<EventTime>& windows,
                              std::int64_t engines_per_window, int columns);

/// Memory of one batch of snapshot rows on its way from stage to stage.
std::int64_t BatchBytes(const EmbeddingSize& size);

/// Memory of a pass over `columns` columns, at its peak: the embedding and everything
/// around it.
std::int64_t PassBytes(const EmbeddingSize& size, int columns);

/// Memory of the first pass over the log, at its peak.
std::int64_t FirstPassBytes(const EmbeddingSize& size);

/// How many columns to embed in one pass, for a peak within `limit` bytes: all of them,
/// or a multiple of 16 that makes the fewest passes and these as even as can be. Where
/// not even 16 fit it is 16.
int ColumnsPerPass(const EmbeddingSize& size, std::int64_t limit);

/// Disk that all snapshots and the state take at most: as if nothing could be compressed.
std::int64_t DiskBytes(const Settings& settings, const EmbeddingSize& size,
                       std::size_t num_snapshots);

/// The labels of a run, as far as they decide what it takes.
struct LabelSize {
  std::int64_t nodes = 0;   ///< with a label
  std::int64_t in_log = 0;  ///< those of them that the log or the features name
  std::int64_t classes = 0;
  std::int64_t facts = 0;  ///< rows
};

/// Plan the passes for `run.memory_limit` and say what they need, for the snapshots after
/// the first `num_done`; and, where `then_trains`, what the training after them needs.
ResourceEstimate EstimateResources(const Settings& settings, const RunInputs& inputs,
                                   const Schedule& schedule, const LabelSize& labels,
                                   int num_done = 0, bool then_trains = false);

/// `run.threads`, or one for every core where that is 0.
int NumThreads(const Settings& settings);

/// `run.memory_limit`, or what the machine has where that is 0.
std::int64_t MemoryLimit(const Settings& settings);

/// The memory that this process holds now, in bytes; 0 where nobody tells.
std::int64_t ResidentMemory();

/// The most memory that this process has held so far, in bytes; 0 where nobody tells.
std::int64_t PeakMemory();

/// Whether `bytes` are free below `run.directory`. An object store has room.
bool DiskHasRoom(const Settings& settings, std::int64_t bytes);

/// Refuse a run whose embedding or training needs more memory than `run.memory_limit`
/// (or, where that is 0, than the machine has) even in the smallest passes, or more disk
/// than is free below `run.directory`.
arrow::Status CheckResources(const Settings& settings, const ResourceEstimate& estimate);

}  // namespace coden
