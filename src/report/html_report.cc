#include "coden/report/html_report.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <arrow/table.h>

#include "coden/base/printable.h"
#include "report/chart_figure_internal.h"
#include "report/flow_picture_internal.h"
#include "report/page_frame_internal.h"
#include "report/report_sections_internal.h"
#include "report/training_facts_internal.h"

namespace coden {

namespace {

std::string Counted(std::int64_t count, std::string_view one, std::string_view several) {
  return FormatCount(count) + " " + std::string(count == 1 ? one : several);
}

double NumberOf(const std::vector<IniSection>& settings, std::string_view section,
                std::string_view key) {
  const std::string_view text = FindIniSetting(settings, section, key);
  double number = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole ? number : std::numeric_limits<double>::quiet_NaN();
}

std::string SummaryLine(const ReportInputs& inputs, const Schedule& schedule,
                        const std::optional<MicroF1Summary>& quality) {
  std::int64_t num_predictions = 0;
  for (const auto& point : schedule) num_predictions += point.at_prediction;
  std::string line =
      Counted(static_cast<std::int64_t>(schedule.size()), "snapshot", "snapshots") +
      " for " + Counted(num_predictions, "prediction time", "prediction times");
  if (!schedule.empty()) {
    line += " of a graph with " + Counted(schedule.back().num_nodes, "node", "nodes") +
            " and " + Counted(schedule.back().num_edges, "edge", "edges");
  }
  if (quality && quality->last) {
    line += "; Micro-F1 " + FormatFixed(100.0 * quality->average.micro_f1, 2) +
            " % on average";
  }
  double seconds = 0.0;
  for (const auto& stage : inputs.stages) {
    if (stage.seconds > 0.0) seconds += stage.seconds;
  }
  if (seconds > 0.0) line += "; " + FormatSeconds(seconds);
  return line + ".";
}

std::vector<StageFigure> Masked(std::vector<StageFigure> stages) {
  for (auto& stage : stages) {
    stage.taken = MaskCredentials(stage.taken);
    stage.given = MaskCredentials(stage.given);
  }
  return stages;
}

arrow::Status AddQuality(Markup& page, const ReportInputs& inputs,
                         const std::optional<MicroF1Summary>& quality,
                         const std::string& facts) {
  if (!quality) {
    page.Open("section").Element("h2", "Prediction quality");
    page.Element("p", "No metrics: no model was trained in this run.").Close().Line();
    return arrow::Status::OK();
  }
  AddQualitySection(page, *quality, facts);
  if (inputs.predictions) {
    ClassCounter counter;
    ARROW_RETURN_NOT_OK(
        inputs.predictions([&](const arrow::Table& part) { return counter.Add(part); }));
    AddClasses(page, counter.Finish());
  }
  page.Close().Line();
  return arrow::Status::OK();
}

arrow::Status AddEmbedding(Markup& page, const ReportInputs& inputs,
                           const Schedule& schedule, double epsilon) {
  std::vector<Chart> charts;
  if (inputs.work != nullptr) {
    ARROW_ASSIGN_OR_RAISE(charts, WorkCharts(*inputs.work));
  }
  if (inputs.schedule != nullptr && std::isfinite(epsilon)) {
    charts.push_back(ErrorChart(schedule, epsilon));
  }
  if (charts.empty()) return arrow::Status::OK();
  page.Open("section").Element("h2", "Embedding").Line();
  AddFigures(page, charts);
  page.Close().Line();
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::string> HtmlReport(const ReportInputs& inputs) {
  Schedule schedule;
  if (inputs.schedule != nullptr) {
    ARROW_ASSIGN_OR_RAISE(schedule, ReadScheduleColumns(*inputs.schedule));
  }
  std::optional<MicroF1Summary> quality;
  if (inputs.metrics != nullptr) {
    ARROW_ASSIGN_OR_RAISE(quality, SummarizeMicroF1(*inputs.metrics));
  }
  const std::string title = MaskCredentials(inputs.title);
  const std::vector<StageFigure> stages = Masked(inputs.stages);

  Markup page;
  AddPageHead(page, title);
  page.Open("header").Element("h1", title).Line();
  page.Element("p", SummaryLine(inputs, schedule, quality), {{"class", "summary"}});
  page.Raw(FlowPicture(stages, FlowDirection::kAcross));
  page.Raw(FlowPicture(stages, FlowDirection::kDown));
  page.Close().Line().Open("main").Line();
  ARROW_RETURN_NOT_OK(AddQuality(page, inputs, quality, TrainingFacts(inputs.settings)));
  if (inputs.schedule != nullptr) {
    AddSamplingSection(page, schedule, NumberOf(inputs.settings, "sample", "lambda"));
    AddGraphSection(page, schedule);
  }
  ARROW_RETURN_NOT_OK(AddEmbedding(page, inputs, schedule,
                                   NumberOf(inputs.settings, "embed", "epsilon")));
  const EpochLog log = ReadEpochLog(inputs.epoch_lines);
  if (!log.curves.empty()) AddTrainingSection(page, log);
  AddResourcesSection(page, stages);
  AddNotesSection(page, inputs.notes);
  AddFactsSection(page, "Input rows", inputs.counts);
  AddFactsSection(page, "Inputs", inputs.inputs);
  AddSettingsSection(page, inputs.settings);
  AddFactsSection(page, "Versions", inputs.versions);
  page.Close().Line();
  return FinishPage(page);
}

}  // namespace coden
