#pragma once

#include <optional>
#include <string>

#include <arrow/result.h>

#include "cli/command_internal.h"
#include "coden/report/results_table.h"
#include "coden/settings/settings.h"
#include "coden/store/manifest.h"

namespace coden {

/// Check, before long work, that a command on a run can print its tables in this form.
/// `has_results`: it has scores or predictions, as RenderRun takes them.
arrow::Status CheckRunForm(const OutputForm& form, bool has_results);

/// The tables of a command on a run: `results` where the command has them, and the
/// `stages`, `input_counts` and `notes` of the run. People see the first alone where they
/// ask for no table: the log has the notes.
arrow::Result<std::string> RenderRun(std::optional<ResultsTable> results,
                                     const Manifest& manifest, OutputForm form);

/// RenderRun with the scores of the run as its results. Where it was not trained they
/// have no rows, and people see the stages.
arrow::Result<std::string> RunResults(const Settings& settings, const Manifest& manifest,
                                      OutputForm form);

}  // namespace coden
