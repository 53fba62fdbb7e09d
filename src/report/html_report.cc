#include "coden/report/html_report.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <arrow/table.h>

#include "coden/report/printable.h"
#include "report/flow_picture_internal.h"
#include "report/ini_sections_internal.h"
#include "report/report_sections_internal.h"
#include "report/report_style_internal.h"

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
  if (quality && quality->best) {
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

void AddHead(Markup& page, std::string_view title) {
  page.Raw("<!DOCTYPE html>\n").Open("html", {{"lang", "en"}}).Line();
  page.Open("head").Void("meta", {{"charset", "utf-8"}}).Line();
  page.Void("meta",
            {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  page.Void("meta", {{"http-equiv", "Content-Security-Policy"},
                     {"content", "default-src 'none'; style-src 'unsafe-inline'"}});
  page.Line().Element("title", title).Line();
  page.Open("style").Raw(ReportStyle()).Close().Close().Line();
}

void AddFacts(Markup& page, const std::vector<NamedText>& facts) {
  page.Open("table", {{"class", "facts"}}).Open("tbody").Line();
  for (const auto& fact : facts) {
    page.Open("tr").Element("th", fact.name, {{"scope", "row"}});
    page.Element("td", MaskCredentials(fact.text)).Close().Line();
  }
  page.Close().Close().Line();
}

void AddFactsSection(Markup& page, std::string_view heading,
                     const std::vector<NamedText>& facts) {
  if (facts.empty()) return;
  page.Open("section").Element("h2", heading).Line();
  AddFacts(page, facts);
  page.Close().Line();
}

void AddSettingsSection(Markup& page, const std::vector<IniSection>& settings) {
  if (settings.empty()) return;
  page.Open("section").Element("h2", "Settings").Line();
  page.Open("div", {{"class", "settings"}}).Line();
  for (const auto& section : settings) {
    page.Open("section").Element("h3", section.name);
    AddFacts(page, section.settings);
    page.Close();
  }
  page.Close().Close().Line();
}

void AddNotesSection(Markup& page, const std::vector<std::string>& notes) {
  if (notes.empty()) return;
  page.Open("section").Element("h2", "Notes").Open("ul", {{"class", "notes"}}).Line();
  for (const auto& note : notes) page.Element("li", MaskCredentials(note)).Line();
  page.Close().Close().Line();
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
  const auto settings = IniSections(inputs.settings_ini);
  const std::string title = MaskCredentials(inputs.title);
  const std::vector<StageFigure> stages = Masked(inputs.stages);

  Markup page;
  AddHead(page, title);
  page.Open("body").Line().Open("header").Element("h1", title).Line();
  page.Element("p", SummaryLine(inputs, schedule, quality), {{"class", "summary"}});
  page.Raw(FlowPicture(stages, FlowDirection::kAcross));
  page.Raw(FlowPicture(stages, FlowDirection::kDown));
  page.Close().Line().Open("main").Line();
  if (quality) {
    AddQualitySection(page, *quality);
  } else {
    page.Open("section").Element("h2", "Prediction quality");
    page.Element("p", "No metrics: no model was trained in this run.").Close().Line();
  }
  if (inputs.schedule != nullptr) {
    AddSamplingSection(page, schedule, NumberOf(settings, "sample", "lambda"));
    AddEmbeddingSection(page, schedule, NumberOf(settings, "embed", "epsilon"));
    AddGraphSection(page, schedule);
  }
  const EpochLog log = ReadEpochLog(inputs.epoch_lines);
  if (!log.epochs.empty()) AddTrainingSection(page, log);
  AddNotesSection(page, inputs.notes);
  AddFactsSection(page, "Inputs", inputs.inputs);
  AddSettingsSection(page, settings);
  AddFactsSection(page, "Versions", inputs.versions);
  return page.Finish() + "\n";
}

}  // namespace coden
