#pragma once

#include <arrow/status.h>

#include "coden/pipeline/progress.h"
#include "coden/pipeline/settings.h"
#include "coden/store/manifest.h"

namespace coden {

/// The `report` stage: write report.html from the files of a finished run, unless
/// `report.html = false`, and note its path.
arrow::Status WriteRunReport(const Settings& settings, const Manifest& manifest,
                             const RunContext& context);

}  // namespace coden
