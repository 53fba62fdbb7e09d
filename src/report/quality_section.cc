#include <cmath>

#include "coden/base/printable.h"
#include "report/chart_figure_internal.h"
#include "report/html_table_internal.h"
#include "report/report_sections_internal.h"

namespace coden {

namespace {

constexpr std::size_t kMaxTableRows = 1000;

std::string Percent(double share) {
  return std::isfinite(share) ? FormatFixed(100.0 * share, 2) + " %" : std::string("–");
}

void AddKeyFigure(Markup& page, std::string_view name, const PredictionScore& score,
                  std::string_view where) {
  page.Open("div").Element("dt", name);
  page.Element("dd", Percent(score.micro_f1), {{"class", "large"}});
  if (std::isfinite(score.micro_f1_deviation)) {
    page.Element("dd", "± " + FormatFixed(100.0 * score.micro_f1_deviation, 2));
  }
  page.Element("dd", where, {{"class", "muted"}}).Close();
}

Chart MicroF1Chart(const MicroF1Summary& summary) {
  Chart chart;
  chart.id = "micro-f1";
  chart.heading = "Micro-F1";
  chart.caption = "On test nodes at each prediction time";
  chart.caption += summary.num_runs > 1
                       ? ", mean of " + std::to_string(summary.num_runs) +
                             " runs with one standard deviation to both sides."
                       : ".";
  chart.label = "Micro-F1 in percent over " + std::to_string(summary.scores.size()) +
                " prediction times, " + Percent(summary.average.micro_f1) + " on average";
  chart.x = {.name = "prediction time", .whole = true};
  chart.y = {.name = "%"};
  ChartSeries present{.name = "Micro-F1", .color = 0};
  ChartSeries all{.name = "Micro-F1, with nodes without an event yet", .color = 1};
  ChartSeries macro{.name = "Macro-F1", .color = 2};
  ChartSeries control{.name = "best control: " + summary.control.name, .color = 3};
  bool differ = false;
  for (const auto& score : summary.scores) {
    const auto x = static_cast<double>(score.time);
    for (auto* series : {&present, &all, &macro, &control}) series->x.push_back(x);
    present.y.push_back(InPercent(score.micro_f1));
    all.y.push_back(InPercent(score.micro_f1_all));
    macro.y.push_back(InPercent(score.macro_f1));
    control.y.push_back(InPercent(score.*summary.control.score));
    if (summary.num_runs > 1) {
      const double deviation =
          std::isfinite(score.micro_f1_deviation) ? score.micro_f1_deviation : 0.0;
      present.low.push_back(InPercent(score.micro_f1 - deviation));
      present.high.push_back(InPercent(score.micro_f1 + deviation));
    }
    differ |= std::abs(score.micro_f1 - score.micro_f1_all) > 1e-9;
  }
  chart.series = {std::move(present), std::move(macro)};
  if (differ) chart.series.push_back(std::move(all));
  chart.series.push_back(std::move(control));
  return chart;
}

}  // namespace

double InPercent(double share) { return std::round(share * 1e6) / 1e4; }

void AddQualitySection(Markup& page, const MicroF1Summary& summary,
                       const std::string& facts) {
  page.Open("section").Element("h2", "Prediction quality").Line();
  if (!facts.empty()) page.Element("p", facts).Line();
  if (summary.last) {
    page.Open("dl", {{"class", "figures"}});
    AddKeyFigure(page, "average", summary.average,
                 "of " + std::to_string(summary.scores.size()) +
                     (summary.scores.size() == 1 ? " time" : " times"));
    page.Open("div").Element("dt", "gain over " + summary.control.name);
    page.Element("dd", Percent(summary.Gain(summary.average)), {{"class", "large"}});
    page.Element("dd",
                 Percent(summary.average.*summary.control.score) + " by the control",
                 {{"class", "muted"}});
    page.Close();
    const PredictionScore& last = summary.scores[*summary.last];
    AddKeyFigure(page, "last", last, "at time " + std::to_string(last.time));
    page.Close().Line();
  }
  AddFigures(page, {MicroF1Chart(summary)});
  page.Open("details").Element("summary", "All scores").Line();
  page.Raw(HtmlTable(MicroF1Table(summary, {}), kMaxTableRows, "metrics.parquet"));
  page.Close().Line();
}

}  // namespace coden
