#pragma once

#include <span>
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
/// that is done leaves it to Recover. Fails where another writer published first, and
/// where a file that `current` does not name has the place of a new one.
arrow::Status Commit(RunStore& store, Manifest next, Manifest* current);

/// Finish a commit that was interrupted, and remove what an interrupted process has left:
/// the stage, files that only the manifest before named, and in an object store snapshots
/// that the schedule announces. All other files stay. Fails where one of them has a name
/// that a run gives. The caller holds the run's lock.
arrow::Status Recover(RunStore& store, Manifest* manifest);

/// The files that have the name of a file of a run and that the manifest does not name.
arrow::Result<std::vector<std::string>> UnnamedOutputs(const RunStore& store,
                                                       const Manifest& manifest);

/// Move these files to a folder of their own, `unnamed-1/` or the first number that is
/// free, under the names that they have. Returns the folder; empty where there are none.
/// For a run that is made anew because its manifest cannot be read: nothing tells its
/// files from others.
arrow::Result<std::string> SetUnnamedOutputsAside(RunStore& store,
                                                  const Manifest& manifest);

/// Move those of `files` that have another size than was written to a folder of their own
/// in the same way, before they are made anew: they may be damaged, or the user's.
arrow::Result<std::string> SetChangedFilesAside(RunStore& store,
                                                std::span<const FileRecord> files);

/// Remove what was staged and never committed; `manifest` is the newest, or an empty one
/// with its number. The caller holds the run's lock.
arrow::Status ClearStage(RunStore& store, const Manifest& manifest);

/// Check that every file of `part` is there with the recorded size; a corruption error
/// otherwise. The checksums are not compared.
arrow::Status CheckFiles(const RunStore& store, const PartRecord& part);

/// What is wrong with a file of the run when it is read again; empty where nothing is.
arrow::Result<std::string> FileProblem(const RunStore& store, const FileRecord& record);

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
