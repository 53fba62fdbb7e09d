#include <algorithm>

#include "cli/command_internal.h"
#include "cli/results_internal.h"
#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/pipeline/run_comparison.h"
#include "coden/pipeline/run_report.h"

namespace coden {

namespace {

constexpr std::string_view kCompare = "compare";
constexpr std::string_view kOut = "out";

bool Has(const CommandLine& line, std::string_view flag) {
  return std::any_of(line.flags.begin(), line.flags.end(),
                     [&](const auto& given) { return given.first == flag; });
}

arrow::Status CompareCommand(const CommandLine& line, const RunContext& context,
                             std::string* output) {
  std::string out = "compare.html";
  for (const auto& [name, value] : line.flags) {
    if (name == kOut) out = value;
    if (name == kCompare || name == kOut) continue;
    return UsageError(
        "`report --compare` reads the settings of the runs and takes none: `--", name,
        "`");
  }
  if (line.words.size() < 2) {
    return UsageError("`report --compare` needs two or more run directories");
  }
  OutputForm form{.table = line.table};
  ARROW_ASSIGN_OR_RAISE(form.format, FormatFrom(line));
  constexpr std::string_view kTables[] = {"runs", "stages", "settings"};
  ARROW_RETURN_NOT_OK(CheckOutputForm(form, kTables));
  ARROW_RETURN_NOT_OK(CheckNoOtherPage(out));
  ARROW_ASSIGN_OR_RAISE(const RunComparison comparison, CompareRuns(line.words));
  ARROW_RETURN_NOT_OK(WriteWholeFile(out, comparison.html));
  for (const std::string& warning : comparison.warnings) context.progress->Warn(warning);
  context.progress->Note("comparison: " + MaskCredentials(out));
  return RenderAll(comparison.tables, form).Value(output);
}

}  // namespace

std::vector<FlagSection> ReportFlags() {
  return {
      {"Comparing runs:",
       {{std::string(kCompare), "",
         "`coden report --compare RUN RUN...` compares finished runs: scores, snapshots, "
         "time, memory and the settings that differ.",
         "", /*takes_value=*/false},
        {std::string(kOut), "", "Output file of `--compare`.", "compare.html"}}}};
}

arrow::Status ReportCommand(const CommandLine& line, const RunContext& context,
                            std::string* output) {
  if (Has(line, kCompare)) return CompareCommand(line, context, output);
  if (Has(line, kOut)) return UsageError("`--out` goes with `report --compare`");
  ARROW_ASSIGN_OR_RAISE(const Settings settings, SettingsFrom(line));
  const OutputForm form{settings.report.format, line.table};
  ARROW_RETURN_NOT_OK(CheckRunForm(form, /*has_results=*/true));
  if (settings.run.directory.empty()) {
    return UsageError("say which run: set `run.directory` or give its pipeline file");
  }
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(const Manifest manifest, LoadRun(*store));
  ARROW_RETURN_NOT_OK(WriteRunReport(settings, manifest, context));
  return RunResults(settings, manifest, form).Value(output);
}

}  // namespace coden
