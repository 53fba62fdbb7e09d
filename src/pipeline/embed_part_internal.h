#pragma once

#include <arrow/status.h>

#include "coden/base/progress.h"
#include "coden/settings/settings.h"
#include "coden/snapshot/snapshot_cache.h"
#include "coden/state/fingerprint.h"
#include "coden/store/manifest.h"
#include "coden/store/run_store.h"

namespace coden {

/// How far to bring the embedding.
enum class EmbedExtent {
  kSchedule,  ///< to a schedule whose slices others embed
  kJoin,      ///< to snapshots, from slices that are all there
  kSnapshots,
};

/// A run directory at work, and what works on it.
struct RunSession {
  const Settings& settings;
  const Fingerprints& prints;
  RunStore& store;
  Manifest* manifest;  ///< follows every commit
  const RunContext& context;
};

struct EmbedRequest {
  EmbedExtent extent = EmbedExtent::kSnapshots;
  bool rebuild = false;
  SnapshotCache* cache = nullptr;  ///< sees the rows of snapshots that are made
  bool then_trains = false;        ///< a training comes after it
};

/// Bring the part `embed` of the run up to date and commit it:
///   - nothing there, or `rebuild`: schedule and embed the log from its start;
///   - a schedule that is not embedded to its end: go on where the last commit was;
///   - more rows in the log or the features than before: schedule and embed these;
///   - settings and inputs unchanged: nothing.
/// Anything else is refused, and then nothing has been touched. A training that comes
/// after it and could not run is refused here as well.
arrow::Status BringEmbeddingUpToDate(const RunSession& session,
                                     const EmbedRequest& request);

/// The error of a run directory whose embedding was made in another way.
arrow::Status AnotherRun(const RunStore& store, const Settings& settings,
                         const PartRecord& existing);

/// Refuse settings and inputs other than those of the schedule that `embed` is, or none.
arrow::Status CheckScheduled(const RunStore& store, const Fingerprints& prints,
                             const PartRecord* embed);

/// Take parts out of the run before they are made anew: a run that is killed meanwhile
/// must not be taken for the one before.
arrow::Status Withdraw(RunStore& store, std::initializer_list<std::string_view> parts,
                       Manifest* manifest);

}  // namespace coden
