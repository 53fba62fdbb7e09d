#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "coden/pipeline/run_layout.h"
#include "coden/snapshot/parquet_file.h"

namespace coden {

/// What one stage took and gave, for the report.
struct StageFigure {
  std::string name;      ///< read, partition, ...
  std::string taken;     ///< such as "236,894 rows"
  std::string given;     ///< such as "26 prediction times"
  double seconds = 0.0;  ///< of wall time
};

/// A part of the run that is committed as a whole: `embed` (read to snapshot) or `train`.
struct PartRecord {
  std::string name;
  std::string fingerprint;
  std::string parameters;  ///< the settings behind it, as `key = value` lines
  std::vector<StageFigure> figures;
  std::vector<std::string> notes;  ///< what was dropped or merged, with counts
  std::vector<FileRecord> files;
};

/// What belongs to a run. Manifests are numbered; the highest one counts, and files it
/// does not name are not part of the run.
struct Manifest {
  int number = 0;
  std::vector<PartRecord> parts;

  const PartRecord* Find(std::string_view part) const;
  /// Put `record` in the place of the part of that name.
  void Replace(PartRecord record);
};

/// Return the newest manifest of the run, or nothing where there is none.
arrow::Result<std::optional<Manifest>> LoadManifest(const RunLayout& layout);

/// Publish `manifest` under the next number. Fails where another writer took that number.
arrow::Status PublishManifest(const RunLayout& layout, Manifest* manifest);

/// Check that every file of `part` is there with the recorded size; a corruption error
/// otherwise. The checksums are not compared.
arrow::Status CheckFiles(const RunLayout& layout, const PartRecord& part);

/// Write a small text file of the run, whole and synced to disk.
arrow::Status WriteTextFile(const RunLayout& layout, std::string_view name,
                            std::string_view text);

/// Describe a file of the run as it is on disk; the rows of a file that is not Parquet
/// are 0.
arrow::Result<FileRecord> DescribeFile(const RunLayout& layout, std::string_view name);

}  // namespace coden
