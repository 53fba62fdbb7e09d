#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/base/progress.h"
#include "coden/pipeline/pipeline.h"
#include "coden/report/results_table.h"
#include "coden/settings/settings.h"

namespace coden {

/// What a process took. The memory of its stages is in the manifest of its run.
struct ProcessUsage {
  double seconds = 0.0;  ///< of wall time
  double cpu_seconds = 0.0;
};

/// Bring a run up to date in a process of its own, whose memory is its own and whose end
/// is not ours. It is handed in, because a library does not know its program.
using PipelineProcess = std::function<arrow::Result<ProcessUsage>(
    const Settings& settings, Goal goal, const RunContext& context)>;

/// A suite of experiments, by the name that `coden experiment` takes.
struct SuiteName {
  std::string_view name;
  std::string_view summary;  ///< one line
};
std::span<const SuiteName> AllSuites();

struct ExperimentResult {
  std::vector<ResultsTable> tables;
  std::vector<std::string> files;  ///< written: the numbers and the page
  /// What the first cell that failed has said; tables and files are of the others.
  arrow::Status failure;
};

/// Run all trials of a suite that are not there yet, and write its table of every trial,
/// NAME.parquet, and its page, NAME.html, into the folder of the experiments
/// (docs/experiments.md). `settings` are those of the pipeline that the suite varies.
///
/// A trial that was finished by any suite is known by its settings and the contents of
/// its inputs and is not run again; one that was interrupted goes on. Trials with the
/// same embedding settings share one run directory.
arrow::Result<ExperimentResult> RunExperiment(std::string_view suite,
                                              const Settings& settings,
                                              const PipelineProcess& process,
                                              const RunContext& context);

/// The schema of the table of trials (schemas/experiment.csv).
std::shared_ptr<arrow::Schema> ExperimentSchema();

}  // namespace coden
