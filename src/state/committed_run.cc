#include "coden/state/committed_run.h"

#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/state/history.h"
#include "coden/store/manifest.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"

namespace coden {

arrow::Result<CommittedRun> CommittedRun::Open(const Settings& settings,
                                               const RunStore& store) {
  CommittedRun run;
  ARROW_ASSIGN_OR_RAISE(const auto manifest, LoadManifest(store));
  const PartRecord* part = manifest ? manifest->Find(kEmbedPart) : nullptr;
  const PartRecord* windows = manifest ? manifest->Find(kWindowsPart) : nullptr;
  if (part == nullptr) {
    return NotInRun(store, "embedding", "`coden run` or `coden embed`");
  }
  ARROW_ASSIGN_OR_RAISE(const std::string text, store.ReadText(RunLayout::kProgress));
  ARROW_ASSIGN_OR_RAISE(run.progress,
                        ProgressFromJson(text, store.Show(RunLayout::kProgress)));
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, RunLayout::kSchedule));
  ARROW_ASSIGN_OR_RAISE(run.schedule, ScheduleFromTable(*table));
  ARROW_ASSIGN_OR_RAISE(
      run.inputs, RunInputs::OpenWithoutLog(settings, {store, run.progress, *part}));
  run.files = part->files;
  if (windows != nullptr)
    run.files.insert(run.files.end(), windows->files.begin(), windows->files.end());
  return run;
}

arrow::Result<std::vector<std::unique_ptr<GraphSource>>> CommittedRun::Graphs(
    const Settings& settings, const RunStore& store,
    const std::vector<EventTime>& windows) const {
  std::vector<std::unique_ptr<GraphSource>> graphs;
  for (const EventTime window : windows) {
    const std::string folder = window == settings.graph.window
                                   ? std::string(RunLayout::kHistory)
                                   : RunLayout::WindowHistory(window);
    ARROW_ASSIGN_OR_RAISE(History history,
                          History::Open(store, folder, files, inputs.nodes->size()));
    graphs.push_back(std::make_unique<History>(std::move(history)));
  }
  return graphs;
}

}  // namespace coden
