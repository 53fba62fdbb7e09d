#include "cli/command_internal.h"
#include "coden/base/error.h"
#include "coden/read/validation.h"

namespace coden {

namespace {

ResultsTable ProblemsTable(const std::vector<InputProblem>& problems) {
  ResultsTable table;
  table.title = "Problems";
  table.columns = {{"input", "input"},
                   {"column", "column"},
                   {"first_row", "first row", ColumnType::kInteger},
                   {"count", "count", ColumnType::kInteger},
                   {"fatal", "stops a run", ColumnType::kBoolean},
                   {"rule", "what"}};
  for (const InputProblem& problem : problems) {
    table.rows.push_back({problem.input, problem.column,
                          problem.first_row < 0 ? Cell() : Cell(problem.first_row),
                          problem.count, problem.fatal, problem.rule});
  }
  return table;
}

}  // namespace

arrow::Status ValidateCommand(const CommandLine& line, const RunContext& context,
                              std::string* output) {
  ARROW_ASSIGN_OR_RAISE(const Settings settings, SettingsFrom(line));
  ARROW_ASSIGN_OR_RAISE(auto problems, ValidateInputs(settings, context));
  for (InputProblem& problem : problems) {
    if (problem.fatal)
      problem.rule = WithPlaceOfSetting(UsageError(problem.rule), *line.places).message();
  }
  if (!problems.empty() || settings.report.format != TableFormat::kTable) {
    *output = Render(ProblemsTable(problems), settings.report.format);
  }
  std::int64_t num_fatal = 0;
  for (const InputProblem& problem : problems) num_fatal += problem.fatal;
  if (num_fatal > 0) {
    return InputError("the inputs would stop a run; problems listed on standard output: ",
                      num_fatal);
  }
  context.progress->Note("the inputs are valid");
  return arrow::Status::OK();
}

}  // namespace coden
