#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/store/manifest.h"
#include "coden/store/run_store.h"

namespace coden {

/// Make `next` the manifest of the run in the place of `current`, which becomes it.
///
/// Files that `next` calls staged are complete and synced before. Publishing the manifest
/// is the one step that counts: before it the run is what `current` says, after it what
/// `next` says, wherever the process ends. Then the staged files are moved to their
/// places, and files that only `current` named are removed; a process that ends before
/// that is done leaves it to Recover. Fails where another writer published first.
arrow::Status Commit(RunStore& store, Manifest next, Manifest* current);

/// Finish a commit that was interrupted, and remove every file below the folders that a
/// run makes (snapshots, state, model, stage), and of the names it makes, which the
/// manifest does not name. The caller holds the run's lock.
arrow::Status Recover(RunStore& store, Manifest* manifest);

/// Whether there are files that Recover would remove, besides those in the stage.
arrow::Result<bool> HasLooseFiles(const RunStore& store, const Manifest& manifest);

/// Remove what was staged and never committed; `manifest` is the newest, or an empty one
/// with its number. The caller holds the run's lock.
arrow::Status ClearStage(RunStore& store, const Manifest& manifest);

/// Check that every file of `part` is there with the recorded size; a corruption error
/// otherwise. The checksums are not compared.
arrow::Status CheckFiles(const RunStore& store, const PartRecord& part);

/// What reading a file of the run again has shown.
struct VerifiedFile {
  std::string path;
  std::int64_t size = 0;
  std::string problem;  ///< empty: the file is what was written
};

/// Read every file that the manifest names and compare size and checksum.
arrow::Result<std::vector<VerifiedFile>> VerifyFiles(const RunStore& store,
                                                     const Manifest& manifest);

}  // namespace coden
