#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

#include "coden/pipeline/embed_pass.h"
#include "coden/settings/settings.h"
#include "coden/store/manifest.h"

namespace coden {

/// Commit a running embedding every so often, so that a killed run loses little.
///
/// The thread that embeds writes the state as of a snapshot into the stage; when the
/// thread that writes has come to the end of that snapshot, it commits both. One state is
/// on its way at a time, so neither waits for the other.
class Checkpointer : public EmbedObserver {
 public:
  /// `manifest` has the part `embed`, whose first snapshots are `schedule`'s with a
  /// proven error; `work` is what those took. All references must outlive the object,
  /// which alone changes `manifest` meanwhile.
  Checkpointer(RunStore& store, Manifest* manifest, const Schedule& schedule,
               const RunProgress& progress, const std::vector<SolveWork>& work,
               const Settings& settings);

  arrow::Status OnEmbedded(int snapshot, const Embedder& embedder) override;
  arrow::Status OnWritten(WrittenSnapshot written) override;

  /// The pass is over: commit everything, with `part` in the place of the one there is.
  arrow::Status Finish(const EmbedPassResult& result, PartRecord part);

 private:
  // The state after a snapshot, on its way to be committed with it.
  struct Tray {
    int snapshot;
    std::vector<FileRecord> files;
    EngineMemory engine;
    ColumnRange columns;
    std::vector<double> error_bounds;  // as embedded, of all that this run has taken
    std::vector<SolveWork> work;       // of the same
  };

  /// Add to `part` the snapshots that wait, the schedule up to `num_snapshots` with the
  /// bounds and the work of those that this run has written, and the state of then.
  arrow::Status Fill(int num_snapshots, const std::vector<double>& error_bounds,
                     const std::vector<SolveWork>& work, const RunProgress& progress,
                     std::vector<FileRecord> state, PartRecord* part);

  /// Nothing is committed that was made from an input which has changed meanwhile.
  arrow::Status CommitUnlessChanged(Manifest next);

  RunStore& store_;
  Manifest* manifest_;
  Schedule schedule_;
  const RunProgress& progress_;
  const std::vector<SolveWork>& earlier_work_;
  const Settings& settings_;
  std::chrono::seconds interval_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::vector<FileRecord> waiting_;   // snapshots that are staged, not committed
  std::vector<double> errors_added_;  // of all snapshots that this run has written
  std::mutex mutex_;
  std::optional<Tray> tray_;
};

}  // namespace coden
