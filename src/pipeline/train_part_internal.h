#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "coden/pipeline/pipeline.h"
#include "coden/snapshot/snapshot_cache.h"
#include "coden/state/fingerprint.h"
#include "coden/store/manifest.h"

namespace coden {

/// Refuse snapshots that are not complete or were made in another way: training takes
/// them as they are.
arrow::Status CheckSnapshots(const RunStore& store, const Settings& settings,
                             const Fingerprints& prints, const PartRecord* embedded);

/// Train, going on from what an interrupted training has left, and commit the result. All
/// references must outlive the object.
class TrainPart {
 public:
  TrainPart(const Settings& settings, const Fingerprints& prints, RunStore& store,
            Manifest* manifest, const RunContext& context)
      : settings_(settings),
        prints_(prints),
        store_(store),
        manifest_(manifest),
        context_(context) {}

  /// What was saved by a training with these settings and inputs; empty where none was.
  arrow::Result<std::string> Saved() const;

  /// `notes` have been said of the labels and are kept with the training. `snapshots` may
  /// hold some of them, `ranks` are those who train together; either may be none.
  arrow::Status Run(const TrainStage& train, std::string saved,
                    std::vector<std::string> notes, SnapshotCache* snapshots,
                    RankGroup* ranks);

 private:
  PartRecord NewPart(std::string_view name) const;
  arrow::Status Save(const std::string& bytes);

  const Settings& settings_;
  const Fingerprints& prints_;
  RunStore& store_;
  Manifest* manifest_;
  const RunContext& context_;
};

}  // namespace coden
