// How a run goes from one state to the next.
//
//     write   _coden/stage/N+1/...       every new file, synced
//     publish _coden/manifest-N+1.json   exclusive create: the commit
//     move    _coden/stage/N+1/x -> x    redo: may be done again by whoever comes next
//     remove  what manifest N named and N+1 does not
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

#include "coden/pipeline/error.h"
#include "coden/store/hasher.h"
#include "coden/store/run_layout.h"

namespace coden {

namespace {

// The newest manifest and the one before it, which a reader may just be opening.
constexpr int kManifestsKept = 2;

std::set<std::string, std::less<>> NamesOf(const Manifest& manifest) {
  std::set<std::string, std::less<>> names;
  for (const PartRecord& part : manifest.parts) {
    for (const FileRecord& file : part.files) names.insert(file.path);
  }
  return names;
}

arrow::Status MoveStaged(RunStore& store, Manifest* manifest) {
  for (PartRecord& part : manifest->parts) {
    for (FileRecord& file : part.files) {
      if (file.staged.empty()) continue;
      ARROW_ASSIGN_OR_RAISE(const std::string place, store.Locate(file));
      if (place != file.path) ARROW_RETURN_NOT_OK(store.Move(place, file.path));
      file.staged.clear();
    }
  }
  return arrow::Status::OK();
}

// Whether a run makes files of this name, so that one nobody names may be removed.
bool IsOutput(std::string_view name) {
  for (const std::string_view folder :
       {RunLayout::kSnapshots, RunLayout::kState, RunLayout::kModel, RunLayout::kStage}) {
    if (name.starts_with(std::string(folder) + "/")) return true;
  }
  for (const std::string_view file :
       {RunLayout::kSchedule, RunLayout::kPredictions, RunLayout::kForecast,
        RunLayout::kMetrics, RunLayout::kMetricsLog}) {
    if (name == file) return true;
  }
  return false;
}

// What is wrong with a file of the run; empty where nothing is.
arrow::Result<std::string> ProblemOf(const RunStore& store, const FileRecord& record) {
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

}  // namespace

arrow::Status Commit(RunStore& store, Manifest next, Manifest* current) {
  next.number = current->number + 1;
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

arrow::Result<bool> HasLooseFiles(const RunStore& store, const Manifest& manifest) {
  const auto kept = NamesOf(manifest);
  ARROW_ASSIGN_OR_RAISE(const auto names, store.List({}));
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return IsOutput(name) && !name.starts_with(RunLayout::kStage) && !kept.contains(name);
  });
}

arrow::Status ClearStage(RunStore& store, const Manifest& manifest) {
  store.StageFor(manifest.number + 1);
  ARROW_ASSIGN_OR_RAISE(const auto names, store.List(RunLayout::kStage));
  for (const std::string& name : names) ARROW_RETURN_NOT_OK(store.Remove(name));
  return arrow::Status::OK();
}

arrow::Status Recover(RunStore& store, Manifest* manifest) {
  store.StageFor(manifest->number + 1);
  ARROW_RETURN_NOT_OK(MoveStaged(store, manifest));
  store.Expect(manifest->AllFiles());
  const auto kept = NamesOf(*manifest);
  ARROW_ASSIGN_OR_RAISE(const auto names, store.List({}));
  for (const std::string& name : names) {
    const auto number = ManifestNumber(name);
    const bool old = number && *number <= manifest->number - kManifestsKept;
    const bool loose = IsOutput(name) && !kept.contains(name);
    if (old || loose) ARROW_RETURN_NOT_OK(store.Remove(name));
  }
  return arrow::Status::OK();
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
  for (const PartRecord& part : manifest.parts) {
    for (const FileRecord& record : part.files) {
      ARROW_ASSIGN_OR_RAISE(std::string problem, ProblemOf(store, record));
      files.push_back({record.path, record.size, std::move(problem)});
    }
  }
  return files;
}

}  // namespace coden
