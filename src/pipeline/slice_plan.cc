#include "coden/pipeline/slice_plan.h"

#include <optional>

#include "coden/pipeline/schedule_pass.h"
#include "coden/read/input_agreement.h"
#include "coden/read/labels.h"
#include "coden/read/parquet_source.h"
#include "coden/state/fingerprint.h"
#include "coden/store/manifest.h"
#include "pipeline/scheduled_run_internal.h"

namespace coden {

namespace {

arrow::Result<std::int64_t> BytesOf(const std::string& path) {
  if (path.empty()) return 0;
  ARROW_ASSIGN_OR_RAISE(const auto source, ParquetSource::Open(path));
  std::int64_t bytes = 0;
  for (const ParquetSource::File& file : source->files()) bytes += file.size;
  return bytes;
}

// The schedule of the run directory, where it is of these settings and inputs.
arrow::Result<std::optional<ScheduledRun>> FindScheduled(const Settings& settings) {
  if (settings.run.directory.empty()) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(const auto loaded, LoadManifest(*store));
  const Manifest manifest = loaded.value_or(Manifest{});
  const PartRecord* embed = manifest.Find(kEmbedPart);
  if (embed == nullptr) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const Fingerprints prints,
                        ComputeFingerprints(settings, manifest));
  if (embed->fingerprint != prints.embed) return std::nullopt;
  return OpenScheduledRun(settings, *store, *embed, LogUse::kOpen);
}

}  // namespace

arrow::Result<CostSize> SizeOfRun(const Settings& settings, const RunContext& context) {
  ARROW_RETURN_NOT_OK(CheckInputsAgree(settings.input, settings.graph.events));
  ARROW_ASSIGN_OR_RAISE(auto run, FindScheduled(settings));
  CostSize size;
  if (run) {
    context.progress->Note("planned from the schedule in `run.directory`");
    const int done = run->progress.num_snapshots;
    const bool complete = done == static_cast<int>(run->schedule.size());
    size.schedule = std::move(run->schedule);
    size.num_done = complete ? 0 : done;
  } else {
    run.emplace();
    ARROW_ASSIGN_OR_RAISE(run->inputs, RunInputs::Open(settings));
    // A plan says what a run needs, also where it may not have it.
    Settings unlimited = settings;
    unlimited.run.memory_limit = 0;
    ARROW_ASSIGN_OR_RAISE(auto pass, RunSchedulePass(unlimited, run->inputs, context));
    size.schedule = std::move(pass.schedule);
  }
  size.rows = run->inputs.log.num_rows;
  size.nodes = run->inputs.nodes->size();
  size.id_bytes = run->inputs.nodes->MemoryBytes();
  size.columns = run->inputs.columns;
  ARROW_ASSIGN_OR_RAISE(size.log_bytes, BytesOf(settings.input.edges));
  ARROW_ASSIGN_OR_RAISE(size.feature_bytes, BytesOf(settings.input.features));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t updates,
                        BytesOf(settings.input.feature_updates));
  size.feature_bytes += updates;
  if (!settings.input.labels.empty()) {
    ARROW_ASSIGN_OR_RAISE(const Labels labels, ReadLabels(settings.input));
    size.num_labelled = labels.nodes->size();
  }
  return size;
}

}  // namespace coden
