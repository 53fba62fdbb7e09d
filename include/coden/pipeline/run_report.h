#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <arrow/status.h>

#include "coden/base/progress.h"
#include "coden/settings/settings.h"
#include "coden/store/manifest.h"

namespace coden {

/// Whether rows were added to the run after its model was trained, and how results say
/// so.
bool ModelPredatesRows(const Manifest& manifest);
inline constexpr std::string_view kModelPredatesRows =
    "The model predates the latest rows.";

/// What the stages of a run have noted, for the report and for programs.
std::vector<std::string> RunNotes(const Manifest& manifest);

/// The `report` stage: write report.html from the files of a finished run, unless
/// `report.html = false`, and note its path.
arrow::Status WriteRunReport(const Settings& settings, const Manifest& manifest,
                             const RunContext& context);

}  // namespace coden
