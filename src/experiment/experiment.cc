#include "coden/experiment/experiment.h"

#include <algorithm>
#include <cctype>

#include "base/nearest_internal.h"
#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/report/html_page.h"
#include "coden/store/parquet_file.h"
#include "coden/version.h"
#include "experiment/experiment_file_internal.h"
#include "experiment/laboratory_internal.h"
#include "experiment/suites_internal.h"

namespace coden {

namespace {

arrow::Result<Suite> FindSuite(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Suite& suite : AllSuiteKinds()) {
    if (suite.name.name == name) return suite;
    names.push_back(suite.name.name);
  }
  return UsageError("unknown suite `", name, "`; the nearest is `", Nearest(name, names),
                    "` (`coden help experiment` lists all)");
}

std::vector<std::string> NotesOf(const Settings& settings,
                                 std::span<const MeasuredTrial> trials) {
  std::vector<std::string> notes;
  const bool resumed = std::any_of(trials.begin(), trials.end(),
                                   [](const auto& one) { return one.result.resumed; });
  if (resumed) {
    notes.emplace_back(
        "* an interrupted process had done a part: times are of the rest alone");
  }
  const bool trains = std::any_of(trials.begin(), trials.end(), [](const auto& one) {
    return one.trial.kind == TrialKind::kTrain;
  });
  if (trains && settings.train.runs == 1)
    notes.emplace_back("one seed has no spread: set `train.runs`, such as 5");
  return notes;
}

}  // namespace

arrow::Result<ExperimentResult> RunExperiment(std::string_view name,
                                              const Settings& settings,
                                              const PipelineProcess& process,
                                              const RunContext& context) {
  ARROW_RETURN_NOT_OK(Validate(settings));
  ARROW_ASSIGN_OR_RAISE(const Suite suite, FindSuite(name));
  ARROW_ASSIGN_OR_RAISE(Laboratory lab, Laboratory::Open(settings, process, context));
  ARROW_ASSIGN_OR_RAISE(const std::vector<Trial> trials,
                        suite.list(settings, lab, context));
  // One that makes no sense is found before the others have taken hours.
  for (const Trial& trial : trials) ARROW_RETURN_NOT_OK(Validate(trial.settings));
  ExperimentResult result;
  std::vector<MeasuredTrial> measured;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    Trial trial = trials[i];
    const std::string shown =
        trial.group.empty() ? trial.name : trial.group + " " + trial.name;
    context.progress->Note(std::string(name) + ": cell " + std::to_string(i + 1) +
                           " of " + std::to_string(trials.size()) + ": " + shown);
    auto outcome = lab.Measure(&trial);
    if (outcome.ok()) {
      measured.push_back({std::move(trial), *std::move(outcome)});
      continue;
    }
    const arrow::Status& failure = outcome.status();
    if (failure.IsCancelled()) return failure;
    if (!result.failure.ok()) {
      context.progress->Note("cell " + shown + " failed too: " + failure.message());
    } else {
      result.failure =
          failure.WithMessage("cell ", shown, " failed: ", failure.message());
    }
  }
  if (measured.empty()) return result.failure;
  Findings findings = suite.find(suite, measured);
  result.tables = findings.tables;
  ARROW_ASSIGN_OR_RAISE(const auto rows, ExperimentBatch(name, measured));
  const std::string table = lab.Path(std::string(name) + ".parquet");
  ARROW_RETURN_NOT_OK(WriteParquetFile(table, table + ".part", *rows).status());
  result.files.push_back(table);
  std::vector<std::string> notes = NotesOf(settings, measured);
  if (!result.failure.ok())
    notes.push_back("not all cells are here: " + result.failure.message());
  for (const std::string& note : notes) context.progress->Note(note);
  HtmlPage page;
  page.title = "coden experiment " + std::string(name);
  page.summary =
      std::string(suite.name.summary) + ". The log is '" + settings.input.edges + "'.";
  page.summary.front() = static_cast<char>(std::toupper(page.summary.front()));
  page.sections = {{.heading = "Results", .tables = std::move(findings.tables)},
                   {.heading = "Charts", .charts = std::move(findings.charts)}};
  page.notes = notes;
  page.settings = SettingSections(settings);
  page.versions = {{"coden", std::string(kVersion)}};
  ARROW_ASSIGN_OR_RAISE(const std::string html, RenderHtmlPage(page));
  const std::string file = std::string(name) + ".html";
  ARROW_RETURN_NOT_OK(lab.store().WriteText(file, html));
  result.files.push_back(lab.Path(file));
  return result;
}

}  // namespace coden
