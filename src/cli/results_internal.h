#pragma once

#include <string>

#include <arrow/result.h>

#include "cli/command_internal.h"
#include "coden/pipeline/settings.h"
#include "coden/report/results_table.h"
#include "coden/store/manifest.h"

namespace coden {

/// Check, before long work, that a command on a run can print its tables in this form.
arrow::Status CheckRunForm(const OutputForm& form);

/// The tables of a command on a run: `results`, and the `input_counts` and `notes` of the
/// run. People see the results alone where they ask for no table: the log has the notes.
arrow::Result<std::string> RenderWithCounts(ResultsTable results,
                                            const Manifest& manifest, OutputForm form);

/// What a run ends with on standard output: its scores, or its stages where it was not
/// trained or `with_scores` is false.
arrow::Result<std::string> RunResults(const Settings& settings, const Manifest& manifest,
                                      bool with_scores, const OutputForm& form);

}  // namespace coden
