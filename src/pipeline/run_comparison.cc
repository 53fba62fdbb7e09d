#include "coden/pipeline/run_comparison.h"

#include <algorithm>

#include <arrow/buffer.h>
#include <arrow/filesystem/filesystem.h>
#include <arrow/io/interfaces.h>
#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/report/html_page.h"
#include "coden/store/filesystem.h"
#include "coden/store/manifest.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "coden/version.h"
#include "pipeline/saved_settings_internal.h"
#include "report/comparison_internal.h"
#include "report/page_frame_internal.h"

namespace coden {

namespace {

// The last step of each path tells runs apart, or else the whole path does.
void NameRuns(std::vector<RunSummary>& runs, const std::vector<std::string>& shown) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::string path = shown[i];
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    runs[i].name = path.substr(path.rfind('/') + 1);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto same = std::count_if(runs.begin(), runs.end(), [&](const RunSummary& run) {
      return run.name == runs[i].name;
    });
    if (same < 2 && !runs[i].name.empty()) continue;
    const std::string name = runs[i].name;
    for (std::size_t j = 0; j < runs.size(); ++j) {
      if (runs[j].name == name) runs[j].name = shown[j];
    }
  }
}

arrow::Result<RunSummary> Summarize(const RunStore& store, const Manifest& manifest) {
  RunSummary run;
  ARROW_ASSIGN_OR_RAISE(run.settings, SettingsOfRun(store, manifest));
  for (const PartRecord& part : manifest.parts) {
    run.stages.insert(run.stages.end(), part.figures.begin(), part.figures.end());
  }
  if (const FileRecord* schedule = manifest.FindFile(RunLayout::kSchedule)) {
    run.num_snapshots = schedule->rows;
  }
  if (const FileRecord* file = manifest.FindFile(RunLayout::kMetrics)) {
    ARROW_ASSIGN_OR_RAISE(const auto metrics, ReadParquetFile(store, *file));
    ARROW_ASSIGN_OR_RAISE(run.quality, SummarizeMicroF1(*metrics));
  }
  return run;
}

}  // namespace

arrow::Result<RunComparison> CompareRuns(const std::vector<std::string>& directories) {
  std::vector<RunSummary> runs;
  std::vector<std::string> shown;
  for (const std::string& directory : directories) {
    ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(directory));
    ARROW_ASSIGN_OR_RAISE(const Manifest manifest, LoadRun(*store));
    if (std::find(shown.begin(), shown.end(), store->Show()) != shown.end()) {
      return UsageError("a run cannot be compared with itself: '", store->Show(), "'");
    }
    shown.push_back(store->Show());
    ARROW_ASSIGN_OR_RAISE(RunSummary run, Summarize(*store, manifest));
    runs.push_back(std::move(run));
  }
  NameRuns(runs, shown);
  Comparison comparison = Compare(runs);
  comparison.page.versions = {{"coden", std::string(kVersion)}};
  RunComparison result;
  ARROW_ASSIGN_OR_RAISE(result.html, RenderHtmlPage(comparison.page));
  result.warnings = std::move(comparison.warnings);
  result.tables = {comparison.runs, comparison.stages, comparison.settings};
  return result;
}

arrow::Status CheckNoOtherPage(const std::string& path) {
  // The mark is in the head of a page.
  constexpr std::int64_t kHeadBytes = 1 << 16;
  ARROW_ASSIGN_OR_RAISE(const Location place, OpenLocation(path));
  ARROW_ASSIGN_OR_RAISE(const auto info, place.filesystem->GetFileInfo(place.path));
  if (!info.IsFile()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto file, place.filesystem->OpenInputFile(place.path));
  ARROW_ASSIGN_OR_RAISE(const auto head, file->ReadAt(0, kHeadBytes));
  if (IsOwnPage(head->ToString())) return arrow::Status::OK();
  return UsageError("'", MaskCredentials(path),
                    "' is not a page of this program and is kept; move it to another "
                    "folder, or name another file with `--out`");
}

arrow::Status WriteWholeFile(const std::string& path, const std::string& text) {
  ARROW_ASSIGN_OR_RAISE(const Location place, OpenLocation(path));
  // An object store shows a file when it is closed; a folder needs another name first.
  const std::string first = place.local ? place.path + ".part" : place.path;
  ARROW_ASSIGN_OR_RAISE(const auto stream, place.filesystem->OpenOutputStream(first));
  ARROW_RETURN_NOT_OK(stream->Write(text.data(), static_cast<std::int64_t>(text.size())));
  ARROW_RETURN_NOT_OK(stream->Close());
  if (first == place.path) return arrow::Status::OK();
  return place.filesystem->Move(first, place.path);
}

}  // namespace coden
