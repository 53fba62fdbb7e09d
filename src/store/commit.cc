// How a run goes from one state to the next.
//
//     write   _coden/stage/N+1/...       every new file, synced
//     publish _coden/manifest-N+1.json   exclusive create: the commit
//     move    _coden/stage/N+1/x -> x    redo: may be done again by whoever comes next
//     remove  what manifest N named and N+1 does not
//
// A run directory may also hold files of the user: a table log, notes, an exported model.
// So only files that a manifest has named are removed, and a file is never put in the
// place of one that is not the run's. An object store has snapshots under their final
// names before a manifest names them; the schedule that is committed before says which.
//
// The manifest is published before the files are moved, because a file like
// schedule.parquet is replaced: were it moved first, a process killed in between would
// leave the old manifest beside the new file. Here a manifest says where each of its
// files waits, so both states are whole at every moment
// (docs/adr/0004-publish-then-move.md).

#include "coden/store/commit.h"

#include <algorithm>
#include <set>

#include <arrow/io/interfaces.h>

#include "coden/base/error.h"
#include "coden/store/hasher.h"
#include "coden/store/run_layout.h"

namespace coden {

namespace {

// The newest manifest and the one before it, which a reader may just be opening.
constexpr int kManifestsKept = 2;

std::set<std::string, std::less<>> NamesOf(const Manifest& manifest) {
  std::set<std::string, std::less<>> names;
  for (const FileRecord& file : manifest.AllFiles()) names.insert(file.path);
  return names;
}

arrow::Status MoveStaged(RunStore& store, Manifest* manifest) {
  for (std::vector<PartRecord>* parts : {&manifest->parts, &manifest->trainings}) {
    for (PartRecord& part : *parts) {
      for (FileRecord& file : part.files) {
        if (file.staged.empty()) continue;
        ARROW_ASSIGN_OR_RAISE(const std::string place, store.Locate(file));
        if (place != file.path) ARROW_RETURN_NOT_OK(store.Move(place, file.path));
        file.staged.clear();
      }
    }
  }
  return arrow::Status::OK();
}

arrow::Status InTheWay(const RunStore& store, std::string_view name) {
  return UsageError("'", store.Show(name),
                    "' is not a file of this run, but has the name of one; move it to "
                    "another folder, or choose another `run.directory`");
}

// A file that the commit would put in the place of one that no manifest names.
arrow::Status CheckPlaces(const RunStore& store, const Manifest& next,
                          const Manifest& current) {
  const auto named = NamesOf(current);
  for (const FileRecord& file : next.AllFiles()) {
    if (file.staged.empty() || file.staged == file.path || named.contains(file.path))
      continue;
    ARROW_ASSIGN_OR_RAISE(const auto size, store.Size(file.path));
    if (size) return InTheWay(store, file.path);
  }
  return arrow::Status::OK();
}

// Whether an interrupted embedding has put the snapshot of this name into an object
// store: the schedule that it follows says how many there are to be.
bool IsSnapshotToCome(const RunStore& store, const Manifest& manifest,
                      std::string_view name) {
  const PartRecord* embed = manifest.Find(kEmbedPart);
  if (store.local() || embed == nullptr || embed->complete) return false;
  const FileRecord* plan = embed->FindFile(RunLayout::kPlan);
  const auto number = RunLayout::SnapshotNumber(name);
  return plan != nullptr && number && *number < plan->rows;
}

// Move these files to a folder that is free. Returns it; empty where there are none.
arrow::Result<std::string> SetAside(RunStore& store,
                                    const std::vector<std::string>& names) {
  if (names.empty()) return std::string();
  std::string folder;
  for (int number = 1;; ++number) {
    folder = RunLayout::Unnamed(number);
    ARROW_ASSIGN_OR_RAISE(const auto taken, store.List(folder));
    if (taken.empty()) break;
  }
  for (const std::string& name : names) {
    std::string kept = folder + "/";
    kept += name;
    ARROW_RETURN_NOT_OK(store.Move(name, kept));
  }
  return folder;
}

}  // namespace

arrow::Result<std::string> FileProblem(const RunStore& store, const FileRecord& record) {
  ARROW_ASSIGN_OR_RAISE(const std::string place, store.Locate(record));
  ARROW_ASSIGN_OR_RAISE(const auto size, store.Size(place));
  if (!size) return "is missing";
  if (*size != record.size) {
    return "has " + std::to_string(*size) + " bytes in place of " +
           std::to_string(record.size);
  }
  const auto read = [&]() -> arrow::Result<std::string> {
    ARROW_ASSIGN_OR_RAISE(const auto file, store.OpenUnchecked(place));
    return HashFile(*file);
  };
  const arrow::Result<std::string> found = read();
  if (!found.ok()) return "cannot be read: " + found.status().message();
  return *found == record.xxh3
             ? std::string()
             : "has the checksum " + *found + " in place of " + record.xxh3;
}

arrow::Status Commit(RunStore& store, Manifest next, Manifest* current) {
  next.number = current->number + 1;
  ARROW_RETURN_NOT_OK(CheckPlaces(store, next, *current));
  ARROW_RETURN_NOT_OK(store.SyncStage());
  ARROW_ASSIGN_OR_RAISE(const bool published,
                        store.CreateNew(ManifestName(next.number), ManifestText(next)));
  if (!published) {
    return UnavailableError("another process is writing to '", store.Show(),
                            "'; wait for it: it published '",
                            store.Show(ManifestName(next.number)), "' first");
  }
  store.StageFor(next.number + 1);
  ARROW_RETURN_NOT_OK(MoveStaged(store, &next));
  store.Expect(next.AllFiles());
  const auto kept = NamesOf(next);
  for (const std::string& name : NamesOf(*current)) {
    if (!kept.contains(name)) ARROW_RETURN_NOT_OK(store.Remove(name));
  }
  if (next.number > kManifestsKept) {
    ARROW_RETURN_NOT_OK(store.Remove(ManifestName(next.number - kManifestsKept)));
  }
  *current = std::move(next);
  return arrow::Status::OK();
}

arrow::Result<std::vector<std::string>> UnnamedOutputs(const RunStore& store,
                                                       const Manifest& manifest) {
  const auto named = NamesOf(manifest);
  ARROW_ASSIGN_OR_RAISE(auto names, store.List({}));
  std::erase_if(names, [&](const std::string& name) {
    return !RunLayout::IsOutput(name) || named.contains(name);
  });
  return names;
}

arrow::Status ClearStage(RunStore& store, const Manifest& manifest) {
  store.StageFor(manifest.number + 1);
  ARROW_ASSIGN_OR_RAISE(const auto names, store.List(RunLayout::kStage));
  for (const std::string& name : names) ARROW_RETURN_NOT_OK(store.Remove(name));
  return arrow::Status::OK();
}

arrow::Status Recover(RunStore& store, Manifest* manifest) {
  ARROW_RETURN_NOT_OK(MoveStaged(store, manifest));
  ARROW_RETURN_NOT_OK(ClearStage(store, *manifest));
  store.Expect(manifest->AllFiles());
  ARROW_ASSIGN_OR_RAISE(const auto commits, store.List(RunLayout::kCommits));
  for (const std::string& name : commits) {
    const auto number = ManifestNumber(name);
    if (number && *number <= manifest->number - kManifestsKept)
      ARROW_RETURN_NOT_OK(store.Remove(name));
  }
  const auto named = NamesOf(*manifest);
  ARROW_ASSIGN_OR_RAISE(const Manifest before, ManifestBefore(store, *manifest));
  for (FileRecord& file : before.AllFiles()) {
    if (named.contains(file.path)) continue;
    // One that is no longer what was committed is somebody else's.
    file.staged.clear();
    ARROW_ASSIGN_OR_RAISE(const std::string problem, FileProblem(store, file));
    if (problem.empty()) ARROW_RETURN_NOT_OK(store.Remove(file.path));
  }
  ARROW_ASSIGN_OR_RAISE(const auto unnamed, UnnamedOutputs(store, *manifest));
  for (const std::string& name : unnamed) {
    if (!IsSnapshotToCome(store, *manifest, name)) return InTheWay(store, name);
    ARROW_RETURN_NOT_OK(store.Remove(name));
  }
  return arrow::Status::OK();
}

arrow::Result<std::string> SetUnnamedOutputsAside(RunStore& store,
                                                  const Manifest& manifest) {
  ARROW_ASSIGN_OR_RAISE(const auto names, UnnamedOutputs(store, manifest));
  return SetAside(store, names);
}

arrow::Result<std::string> SetChangedFilesAside(RunStore& store,
                                                std::span<const FileRecord> files) {
  std::vector<std::string> names;
  for (const FileRecord& file : files) {
    ARROW_ASSIGN_OR_RAISE(const auto size, store.Size(file.path));
    if (size && *size != file.size) names.push_back(file.path);
  }
  return SetAside(store, names);
}

arrow::Status CheckFiles(const RunStore& store, const PartRecord& part) {
  for (const FileRecord& file : part.files) {
    ARROW_ASSIGN_OR_RAISE(const std::string place, store.Locate(file));
    ARROW_ASSIGN_OR_RAISE(const auto size, store.Size(place));
    if (!size) {
      return CorruptionError("a file of the run is missing: '", store.Show(file.path),
                             "'");
    }
    if (*size != file.size) {
      return CorruptionError("a file of the run has another size than was written: '",
                             store.Show(file.path), "': ", *size, " in place of ",
                             file.size);
    }
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<VerifiedFile>> VerifyFiles(const RunStore& store,
                                                     const Manifest& manifest) {
  std::vector<VerifiedFile> files;
  for (const FileRecord& record : manifest.AllFiles()) {
    ARROW_ASSIGN_OR_RAISE(std::string problem, FileProblem(store, record));
    files.push_back({record.path, record.size, std::move(problem)});
  }
  return files;
}

}  // namespace coden
