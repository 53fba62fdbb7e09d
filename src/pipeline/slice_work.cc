#include "pipeline/slice_work_internal.h"

#include <algorithm>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/state/fingerprint.h"
#include "pipeline/scheduled_run_internal.h"

namespace coden {

namespace {

std::string Show(const ColumnRange& columns) {
  return std::to_string(columns.begin) + ":" + std::to_string(columns.end);
}

// While it exists, what is staged goes into a folder of its own, which goes with it
// unless its files are kept.
class SliceStage {
 public:
  SliceStage(RunStore& store, std::string folder)
      : store_(store), folder_(std::move(folder)) {
    store_.StageInto(folder_);
  }
  ~SliceStage() {
    store_.StageInto({});
    if (kept_) return;
    const auto names = store_.List(folder_);
    if (!names.ok()) return;
    for (const std::string& name : *names) ARROW_UNUSED(store_.Remove(name));
  }
  SliceStage(const SliceStage&) = delete;
  SliceStage& operator=(const SliceStage&) = delete;

  void Keep() { kept_ = true; }

 private:
  RunStore& store_;
  std::string folder_;
  bool kept_ = false;
};

// A schedule that somebody else has gone on with since it was opened has no use for the
// slice.
arrow::Status CheckStillOpen(const RunStore& store, const std::string& schedule) {
  ARROW_ASSIGN_OR_RAISE(const auto manifest, LoadManifest(store));
  const PartRecord* embed = manifest ? manifest->Find(kEmbedPart) : nullptr;
  if (embed != nullptr && !embed->complete && ScheduleId(*embed) == schedule)
    return arrow::Status::OK();
  return UnavailableError("the run in '", store.Show(),
                          "' has gone on without this slice: its schedule is no "
                          "longer the one that the slice was made for; run again");
}

}  // namespace

arrow::Result<SavedSlice> MakeSlice(const Settings& settings, RunInputs& inputs,
                                    const EmbedTask& task, const ColumnRange& columns,
                                    const PartRecord& embed, const std::string& step,
                                    RunStore& store, const RunContext& context) {
  const std::string schedule = ScheduleId(embed);
  SliceStage stage(store, NewSliceFolder(schedule, columns));
  ARROW_ASSIGN_OR_RAISE(SavedSlice slice, RunSlicePass(settings, inputs, task, columns,
                                                       step, store, context));
  ARROW_RETURN_NOT_OK(CheckInputsStay(settings, WithoutLog(embed.inputs)));
  ARROW_RETURN_NOT_OK(CheckStillOpen(store, schedule));
  ARROW_RETURN_NOT_OK(store.SyncStage());
  // From here on a record may name the files, even where publishing it ends in an error.
  stage.Keep();
  return PublishSlice(store, schedule, std::move(slice));
}

arrow::Status EmbedSlice(const Settings& settings, const ColumnRange& columns,
                         const PartRecord& embed, RunStore& store,
                         const RunContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto there, LoadSlices(store, ScheduleId(embed)));
  const bool done = std::any_of(there.begin(), there.end(), [&](const auto& slice) {
    return slice.columns.begin == columns.begin && slice.columns.end == columns.end;
  });
  if (done) {
    context.progress->Note("slice " + Show(columns) + " is there already: skipped");
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(ScheduledRun run,
                        OpenScheduledRun(settings, store, embed, LogUse::kNone));
  const ColumnRange all = run.inputs.columns;
  if (columns.begin < all.begin || columns.end > all.end) {
    return UsageError("`embed.columns` must lie within the columns ", Show(all),
                      " that '", store.Show(), "' is scheduled for: ", Show(columns));
  }
  run.inputs.columns = columns;
  ARROW_ASSIGN_OR_RAISE(
      const ResourceEstimate needs,
      EstimateRest(settings, run.inputs, run.schedule, run.progress.num_snapshots));
  run.inputs.columns = all;
  ARROW_RETURN_NOT_OK(CheckResources(settings, needs));
  if (needs.num_passes > 1) {
    return ResourceError("the slice ", Show(columns),
                         " does not fit in `run.memory_limit`; raise it, or take slices "
                         "of ",
                         CountOf(needs.columns_per_pass, "columns at most"));
  }
  context.progress->Note("slice " + Show(columns) + " of columns " + Show(all) +
                         " of the schedule in '" + store.Show() +
                         "'; `coden commit` publishes them once all are there");
  const EmbedTask task{run.schedule, run.progress, embed.files, {}, nullptr};
  return MakeSlice(settings, run.inputs, task, columns, embed, "embed " + Show(columns),
                   store, context)
      .status();
}

}  // namespace coden
