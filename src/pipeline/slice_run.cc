// A slice as a run of its own: which schedule it belongs to, and whether it fits there.

#include "coden/base/error.h"
#include "coden/pipeline/pipeline.h"
#include "coden/state/fingerprint.h"
#include "pipeline/embed_part_internal.h"
#include "pipeline/run_setup_internal.h"
#include "pipeline/slice_work_internal.h"

namespace coden {

namespace {

// The columns that a part `embed` was scheduled for; nothing where that is all of them.
arrow::Result<std::optional<ColumnRange>> ScheduledColumns(const PartRecord& embed) {
  Settings parsed;
  for (const auto& [key, value] : ReadSettingLines(embed.parameters)) {
    if (key == "embed.columns") ARROW_RETURN_NOT_OK(Set(parsed, key, value));
  }
  return parsed.embed.columns;
}

}  // namespace

arrow::Result<bool> AsksForSlice(const Settings& settings) {
  if (!settings.embed.columns || settings.run.directory.empty()) return false;
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(settings.run.directory));
  const auto loaded = LoadManifest(*store);
  // What is damaged is told by whoever works with it.
  if (!loaded.ok()) return false;
  const Manifest manifest = loaded->value_or(Manifest{});
  const PartRecord* embed = manifest.Find(kEmbedPart);
  if (embed == nullptr || embed->complete) return false;
  ARROW_ASSIGN_OR_RAISE(const auto scheduled, ScheduledColumns(*embed));
  return !scheduled || scheduled->begin != settings.embed.columns->begin ||
         scheduled->end != settings.embed.columns->end;
}

arrow::Status RunSlice(const Settings& all_settings, const RunContext& context) {
  ARROW_RETURN_NOT_OK(Validate(all_settings));
  ARROW_ASSIGN_OR_RAISE(const auto threads, RunThreads::Take(all_settings));
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(all_settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(const auto loaded, LoadManifest(*store));
  const Manifest manifest = loaded.value_or(Manifest{});
  const PartRecord* embed = manifest.Find(kEmbedPart);
  if (embed == nullptr) return CheckScheduled(*store, {}, nullptr);
  Settings settings = WithoutIdleLabels(all_settings, Goal::kEmbed);
  ARROW_ASSIGN_OR_RAISE(settings.embed.columns, ScheduledColumns(*embed));
  if (!DifferingSettings(EmbedParameters(settings), embed->parameters).empty())
    return AnotherRun(*store, settings, *embed);
  ARROW_ASSIGN_OR_RAISE(const Fingerprints prints,
                        ComputeFingerprints(settings, manifest, /*known_first=*/true,
                                            /*log_of=*/embed));
  ARROW_RETURN_NOT_OK(CheckScheduled(*store, prints, embed));
  if (embed->complete) {
    context.progress->Note("the run is complete, with these columns: skipped");
    return arrow::Status::OK();
  }
  if (!all_settings.embed.columns) {
    return UsageError("say which columns: set `embed.columns`");
  }
  return EmbedSlice(settings, *all_settings.embed.columns, *embed, *store, context);
}

}  // namespace coden
