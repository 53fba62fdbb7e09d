#include "coden/pipeline/committed_run.h"

#include <arrow/table.h>

#include "coden/pipeline/error.h"
#include "coden/pipeline/fingerprint.h"
#include "coden/pipeline/runner.h"
#include "coden/store/manifest.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"

namespace coden {

namespace {

// Replays can be interrupted between two batches.
constexpr std::int64_t kReplayBatchRows = 4096;

}  // namespace

arrow::Result<CommittedRun> CommittedRun::Open(const Settings& settings,
                                               const RunStore& store) {
  CommittedRun run;
  ARROW_ASSIGN_OR_RAISE(const auto manifest, LoadManifest(store));
  const PartRecord* part = manifest ? manifest->Find(kEmbedPart) : nullptr;
  if (part == nullptr) {
    return NotInRun(store, "embedding", "`coden run` or `coden embed`");
  }
  ARROW_ASSIGN_OR_RAISE(const std::string text, store.ReadText(RunLayout::kProgress));
  ARROW_ASSIGN_OR_RAISE(run.progress,
                        ProgressFromJson(text, store.Show(RunLayout::kProgress)));
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, RunLayout::kSchedule));
  ARROW_ASSIGN_OR_RAISE(run.schedule, ScheduleFromTable(*table));
  const EarlierRun earlier{store, run.progress,
                           EdgeFiles(part->inputs, run.progress.log)};
  ARROW_ASSIGN_OR_RAISE(run.inputs, RunInputs::Open(settings, &earlier));
  run.inputs.nodes->Freeze();
  return run;
}

arrow::Status CommittedRun::Replay(const Settings& settings,
                                   std::span<Operator* const> stages,
                                   const RunContext& context, std::int64_t num_events) {
  ARROW_ASSIGN_OR_RAISE(const UsedRows rows, ReadUsedRows(inputs.log, progress.log,
                                                          kReplayBatchRows, num_events));
  EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes,
                     rows.options);
  std::vector<Operator*> all = {&reader};
  all.insert(all.end(), stages.begin(), stages.end());
  const auto discard = [](const BatchPtr&) { return arrow::Status::OK(); };
  return Run(*rows.reader, all, discard, context, {.read_ahead_of = 1}).status();
}

}  // namespace coden
