#include "cli/command_internal.h"
#include "cli/pipeline_process_internal.h"
#include "coden/base/error.h"
#include "coden/experiment/experiment.h"

namespace coden {

std::vector<FlagSection> ExperimentFlags() {
  std::string suites = "Suites:";
  for (const SuiteName& suite : AllSuites()) {
    std::string line = "\n  " + std::string(suite.name);
    line.resize(14, ' ');
    suites += line + std::string(suite.summary);
  }
  return {{suites, {}}};
}

arrow::Status ExperimentCommand(const CommandLine& line, const RunContext& context,
                                std::string* output) {
  if (line.words.empty()) {
    return UsageError(
        "`experiment` needs a suite and a pipeline file, such as `coden experiment "
        "ablation pipeline.ini`; `coden help experiment` lists the suites");
  }
  CommandLine rest = line;
  rest.words.erase(rest.words.begin());
  ARROW_ASSIGN_OR_RAISE(const Settings settings, SettingsFrom(rest));
  ARROW_ASSIGN_OR_RAISE(
      const ExperimentResult result,
      RunExperiment(line.words.front(), settings, RunPipelineProcess, context));
  for (const std::string& file : result.files) context.progress->Note("wrote " + file);
  ARROW_ASSIGN_OR_RAISE(*output,
                        RenderAll(result.tables, {settings.report.format, line.table}));
  return result.failure;
}

}  // namespace coden
