#include <cmath>

#include "coden/report/printable.h"
#include "report/html_table_internal.h"
#include "report/report_sections_internal.h"

namespace coden {

namespace {

constexpr std::size_t kMaxTableRows = 1000;

std::string Percent(double share) {
  return std::isfinite(share) ? FormatFixed(100.0 * share, 2) + " %" : std::string("–");
}

std::string WithDeviation(const PredictionScore& score) {
  std::string text = Percent(score.micro_f1);
  if (std::isfinite(score.micro_f1_deviation)) {
    text += " ± " + FormatFixed(100.0 * score.micro_f1_deviation, 2);
  }
  return text;
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
  chart.label = "Micro-F1 in percent over " + std::to_string(summary.scores.size()) +
                " prediction times, " + Percent(summary.average.micro_f1) + " on average";
  chart.x_name = "prediction time";
  chart.y_name = "Micro-F1 %";
  chart.whole_x = true;
  ChartSeries present{"nodes with an event by then", SeriesStyle::kLine, {}, 0};
  ChartSeries all{"all test nodes", SeriesStyle::kLine, {}, 1};
  bool differ = false;
  for (const auto& score : summary.scores) {
    const auto x = static_cast<double>(score.time);
    const std::string when = "prediction " + std::to_string(score.prediction) +
                             ", time " + std::to_string(score.time) + ": ";
    present.points.push_back(
        {x, 100.0 * score.micro_f1, when + "Micro-F1 " + WithDeviation(score)});
    all.points.push_back(
        {x, 100.0 * score.micro_f1_all,
         when + "Micro-F1 over all test nodes " + Percent(score.micro_f1_all)});
    differ |= std::abs(score.micro_f1 - score.micro_f1_all) > 1e-9;
  }
  if (differ) chart.series.push_back(std::move(all));
  chart.series.push_back(std::move(present));
  return chart;
}

Chart EpochChart(const EpochLog& log, std::string_view name) {
  Chart chart;
  chart.label =
      std::string(name) + " over " + std::to_string(log.epochs.size()) + " epochs";
  chart.x_name = "epoch";
  chart.y_name = name;
  chart.whole_x = true;
  return chart;
}

ChartSeries EpochSeries(const EpochLog& log, std::string name,
                        double EpochFigure::* value, double scale, int color) {
  ChartSeries series{std::move(name), SeriesStyle::kLine, {}, color};
  for (const auto& epoch : log.epochs) {
    const double y = scale * epoch.*value;
    series.points.push_back({static_cast<double>(epoch.epoch), y,
                             "epoch " + std::to_string(epoch.epoch) + ": " +
                                 FormatFixed(y, scale == 1.0 ? 4 : 2)});
  }
  return series;
}

bool HasValues(const ChartSeries& series) {
  for (const auto& point : series.points) {
    if (std::isfinite(point.y)) return true;
  }
  return false;
}

}  // namespace

void AddFigure(Markup& page, std::string_view heading, std::string_view caption,
               const Chart& chart) {
  page.Open("figure").Element("h3", heading).Element("figcaption", caption).Line();
  page.Raw(SvgChart(chart)).Raw(ChartLegend(chart)).Close().Line();
}

void AddQualitySection(Markup& page, const MicroF1Summary& summary) {
  page.Open("section").Element("h2", "Prediction quality").Line();
  page.Open("div", {{"class", "pair"}});
  const std::string runs = summary.num_runs > 1
                               ? ", mean of " + std::to_string(summary.num_runs) + " runs"
                               : std::string();
  AddFigure(page, "Micro-F1", "On test nodes at each prediction time" + runs + ".",
            MicroF1Chart(summary));
  if (summary.best && summary.worst) {
    page.Open("dl", {{"class", "figures"}});
    AddKeyFigure(page, "average", summary.average,
                 "of " + std::to_string(summary.scores.size()) +
                     (summary.scores.size() == 1 ? " time" : " times"));
    const PredictionScore& best = summary.scores[*summary.best];
    const PredictionScore& worst = summary.scores[*summary.worst];
    AddKeyFigure(page, "best", best, "at time " + std::to_string(best.time));
    AddKeyFigure(page, "worst", worst, "at time " + std::to_string(worst.time));
    page.Close();
  }
  page.Close().Line();
  page.Open("details").Element("summary", "The numbers").Line();
  page.Raw(HtmlTable(MicroF1Table(summary), kMaxTableRows, "metrics.parquet"));
  page.Close().Close().Line();
}

void AddTrainingSection(Markup& page, const EpochLog& log) {
  Chart loss = EpochChart(log, "loss");
  loss.series = {EpochSeries(log, "training", &EpochFigure::loss, 1.0, 0)};
  auto validate_loss =
      EpochSeries(log, "validation", &EpochFigure::validate_loss, 1.0, 1);
  if (HasValues(validate_loss)) loss.series.push_back(std::move(validate_loss));
  Chart quality = EpochChart(log, "Micro-F1 %");
  quality.series = {
      EpochSeries(log, "validation", &EpochFigure::validate_micro_f1, 100.0, 1)};

  page.Open("section").Element("h2", "Training").Line();
  page.Open("div", {{"class", "pair"}});
  const std::string runs = log.num_runs > 1
                               ? ", mean of " + std::to_string(log.num_runs) + " runs"
                               : std::string();
  AddFigure(page, "Loss", "Mean cross-entropy after each epoch" + runs + ".", loss);
  AddFigure(page, "Validation",
            "Micro-F1 on validation nodes after each epoch" + runs + ".", quality);
  page.Close();
  if (log.num_skipped > 0) {
    page.Element("p",
                 FormatCount(static_cast<std::int64_t>(log.num_skipped)) +
                     " lines of metrics.jsonl could not be read and are left out.",
                 {{"class", "muted"}});
  }
  page.Close().Line();
}

}  // namespace coden
