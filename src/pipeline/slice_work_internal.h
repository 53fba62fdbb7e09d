#pragma once

#include <string>

#include <arrow/result.h>

#include "coden/pipeline/embed_pass.h"
#include "coden/settings/settings.h"
#include "coden/store/manifest.h"

namespace coden {

/// Embed `columns` of what `task` still lacks and publish them as a slice of the schedule
/// of `embed`, the part of the manifest. `step` is the name for the progress. Leaves no
/// file where it fails.
arrow::Result<SavedSlice> MakeSlice(const Settings& settings, RunInputs& inputs,
                                    const EmbedTask& task, const ColumnRange& columns,
                                    const PartRecord& embed, const std::string& step,
                                    RunStore& store, const RunContext& context);

/// Embed `columns` of the schedule that the part `embed` of the run holds, as a process
/// that knows nothing of others: takes no lock, changes no manifest, and does nothing
/// where the slice is there. `settings` are those of the schedule.
arrow::Status EmbedSlice(const Settings& settings, const ColumnRange& columns,
                         const PartRecord& embed, RunStore& store,
                         const RunContext& context);

}  // namespace coden
