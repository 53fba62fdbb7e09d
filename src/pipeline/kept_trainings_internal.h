#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/store/manifest.h"
#include "coden/store/run_store.h"

namespace coden {

/// Move the results of the training that `next` has, with its forecast and report, to a
/// folder of their own below `trainings/`, so that another training can take their place.
/// Its parts leave `next` for `Manifest::trainings`; the files are staged, and `next` is
/// still to be committed. Returns what to tell the user; nothing where there is no
/// training.
arrow::Result<std::string> KeepTraining(RunStore& store, Manifest* next);

/// Copy the forecast of `replaced` to a name of its own below `forecasts/`, unless
/// `next`, which takes its place, has the same one. No manifest names the copy: it is the
/// user's to keep or to remove. Returns what to tell the user; nothing where nothing is
/// kept.
arrow::Result<std::string> KeepForecast(RunStore& store, const PartRecord& replaced,
                                        const PartRecord& next);

/// Refuse to put another training in the place of one that is damaged: what is kept of it
/// is what it wrote. Every file is compared with its checksum.
arrow::Status CheckEarlierTraining(const RunStore& store, const Manifest& manifest);

/// Commit that, before the snapshots are made anew: the model and its forecast outlive
/// the snapshots they were made from.
arrow::Status KeepTrainingOfEarlierSnapshots(RunStore& store, const RunContext& context,
                                             Manifest* manifest);

/// Note what other programs have put beside the snapshots that are made anew, such as the
/// log of a table: it is kept, and may describe the earlier ones.
arrow::Status NoteOtherFiles(const RunStore& store, const RunContext& context);

/// Whether `later` has come to the same model, from the same settings and inputs.
bool IsRepeated(const PartRecord& earlier, const PartRecord& later);

/// Leave out of `next` the earlier trainings that its training has repeated, and return
/// their names. One with a forecast stays.
std::vector<std::string> DropRepeated(Manifest* next);

/// Commit a manifest without the earlier trainings of which no file is left: the user has
/// removed them.
arrow::Status ForgetRemovedTrainings(RunStore& store, const RunContext& context,
                                     Manifest* manifest);

}  // namespace coden
