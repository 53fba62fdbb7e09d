#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "coden/store/file_record.h"
#include "coden/store/input_counts.h"
#include "coden/store/run_store.h"

namespace coden {

/// What one stage took and gave, for the report.
struct StageFigure {
  std::string name;             ///< read, partition, ...
  std::string taken;            ///< such as "236,894 rows"
  std::string given;            ///< such as "26 prediction times"
  double seconds = 0.0;         ///< of wall time
  std::int64_t peak_bytes = 0;  ///< of memory, by the end of the stage; 0: not known
  /// What was taken and given as numbers: by rows, nodes, bytes, ... and error_bound, ...
  std::map<std::string, std::int64_t> counts = {};
  std::map<std::string, double> measures = {};
};

/// A file that a part was made from, so that the next run can tell whether it is the
/// same.
struct InputRecord {
  std::string role;  ///< edges, features, feature_updates or labels
  std::string name;  ///< relative to the input's folder
  std::int64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds since the epoch; 0 where unknown
  std::string xxh3;           ///< of the whole file

  bool operator==(const InputRecord&) const = default;
};

/// The names of the parts of a run.
inline constexpr std::string_view kEmbedPart = "embed";  ///< read to snapshot
inline constexpr std::string_view kTrainPart = "train";
/// The histories of the graphs on which only labels travel.
inline constexpr std::string_view kWindowsPart = "windows";
/// What an unfinished training has come to.
inline constexpr std::string_view kTrainingPart = "training";
/// What the model says of prediction times that came after its training.
inline constexpr std::string_view kPredictPart = "predict";

struct PartRecord {
  std::string name;
  /// False: snapshots of its schedule are still to come, or, for `train` and `predict`,
  /// rows were added since it was made.
  bool complete = true;
  std::string version;      ///< of the tool that made it
  std::string fingerprint;  ///< of everything it depends on
  std::string parameters;   ///< the settings behind it, as `key = value` lines
  std::vector<StageFigure> figures;
  std::vector<std::string> notes;  ///< what was dropped or merged, with counts
  InputCounts counts;              ///< the same as numbers
  std::vector<InputRecord> inputs;
  std::vector<FileRecord> files;

  const FileRecord* FindFile(std::string_view path) const;
  /// Put `record` in the place of the file of that path.
  void ReplaceFile(FileRecord record);
};

/// What belongs to a run. Manifests are numbered; the highest one counts, and files it
/// does not name are not part of the run.
struct Manifest {
  int number = 0;
  std::vector<PartRecord> parts;
  /// Earlier trainings, by the names of their folders below `trainings/`, oldest first.
  std::vector<PartRecord> trainings = {};

  const PartRecord* Find(std::string_view part) const;
  /// Put `record` in the place of the part of that name.
  void Replace(PartRecord record);
  /// Leave the part out; false where there is none.
  bool Drop(std::string_view part);
  /// A file of `parts`.
  const FileRecord* FindFile(std::string_view path) const;
  /// The files of all parts and earlier trainings.
  std::vector<FileRecord> AllFiles() const;
};

/// Return the newest manifest of the run, or nothing where there is none, and have the
/// store compare the files it names when they are opened. One that is not what was
/// written, or with a name that leads out of the run, is refused as corruption.
arrow::Result<std::optional<Manifest>> LoadManifest(const RunStore& store);

/// The error of a command that needs `what` in a run which does not have it, exit code 3;
/// `commands` make it: "`coden run` or `coden train`".
arrow::Status NotInRun(const RunStore& store, std::string_view what,
                       std::string_view commands);

/// LoadManifest for a command that only reads: where there is no run, an error.
arrow::Result<Manifest> LoadRun(const RunStore& store);

/// Return the manifest that `manifest` has replaced; an empty one where it is gone or
/// damaged.
arrow::Result<Manifest> ManifestBefore(const RunStore& store, const Manifest& manifest);

/// The number of the newest manifest, whether or not it can be read; 0 where there is
/// none.
arrow::Result<int> NewestManifest(const RunStore& store);

/// The text that LoadManifest reads.
std::string ManifestText(const Manifest& manifest);

/// _coden/manifest-000012.json
std::string ManifestName(int number);

/// The number in the name of a manifest; nothing for any other file.
std::optional<int> ManifestNumber(std::string_view name);

}  // namespace coden
