#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>

#include "coden/experiment/experiment.h"
#include "coden/state/fingerprint.h"
#include "coden/store/run_lock.h"
#include "coden/store/run_store.h"
#include "experiment/trial_internal.h"

namespace coden {

/// Where trials are measured and remembered: the folder of the experiments.
///
///     runs/HASH/              a run directory, for all trials with the same snapshots
///     cells/KIND-HASH.json    a finished trial, by its settings and the contents of its
///                             inputs
///     scratch/                runs of which only the time is wanted, while they run
class Laboratory {
 public:
  /// Open and lock the folder that `settings` name, which must be local.
  static arrow::Result<Laboratory> Open(const Settings& settings,
                                        const PipelineProcess& process,
                                        const RunContext& context);

  /// The result of `trial`: what is there, or what comes of measuring it now. Sets
  /// `run.directory` to where its run is.
  arrow::Result<TrialResult> Measure(Trial* trial);

  /// A path inside the folder, as the file system knows it.
  std::string Path(std::string_view name) const { return store_->LocalPath(name); }
  RunStore& store() { return *store_; }

 private:
  Laboratory(std::shared_ptr<RunStore> store, std::unique_ptr<RunLock> lock,
             const PipelineProcess& process, const RunContext& context);

  arrow::Result<std::string> Identify(const Trial& trial, Fingerprints* prints);
  arrow::Result<TrialResult> Train(const Settings& settings, const Fingerprints& prints);
  arrow::Result<TrialResult> Embed(Settings settings, const Fingerprints& prints,
                                   std::string_view id);
  arrow::Result<TrialResult> ReadResult(const std::string& name) const;
  /// Have the snapshots of `settings` in their run directory; add what they took.
  arrow::Status EnsureSnapshots(const Settings& settings, const Fingerprints& prints,
                                TrialResult* result);

  std::shared_ptr<RunStore> store_;
  std::unique_ptr<RunLock> lock_;
  const PipelineProcess& process_;
  const RunContext& context_;
  Manifest known_;  // inputs that were hashed before
};

}  // namespace coden
