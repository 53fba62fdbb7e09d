#pragma once

#include <arrow/status.h>

#include "coden/base/progress.h"
#include "coden/settings/settings.h"
#include "coden/store/manifest.h"
#include "coden/store/run_store.h"

namespace coden {

/// Have a history for every window of the label columns (`train.label_windows`) that is
/// not that of the run, up to the last snapshot of its schedule, and commit them as the
/// part `windows`. Reads only the rows of the log that such a history does not have yet.
arrow::Status MakeWindowHistories(const Settings& settings, RunStore& store,
                                  Manifest* manifest, const RunContext& context);

}  // namespace coden
