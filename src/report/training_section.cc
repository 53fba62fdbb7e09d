#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "coden/base/printable.h"
#include "report/chart_figure_internal.h"
#include "report/report_sections_internal.h"

namespace coden {

namespace {

// More lines than this are one mean with its spread.
constexpr std::size_t kMaxCurves = 4;

struct CurveNames {
  bool runs = false;
  bool lessons = false;
};

CurveNames NamesOf(const EpochLog& log) {
  std::set<std::int64_t> runs, lessons;
  for (const auto& [curve, epochs] : log.curves) {
    runs.insert(curve.first);
    lessons.insert(curve.second);
  }
  return {runs.size() > 1, lessons.size() > 1};
}

std::string Named(const std::string& what, std::pair<std::int64_t, std::int64_t> curve,
                  CurveNames names) {
  std::string text = what;
  if (names.runs) text += ", run " + std::to_string(curve.first);
  if (names.lessons) text += ", lesson " + std::to_string(curve.second);
  return text;
}

bool HasValues(const ChartSeries& series) {
  return std::any_of(series.y.begin(), series.y.end(),
                     [](double value) { return std::isfinite(value); });
}

// `scale` is 1 or, for shares, 100.
double Scaled(double value, double scale) {
  return scale == 1.0 ? value : InPercent(value);
}

ChartSeries MeanSeries(const EpochLog& log, const std::string& what,
                       double EpochFigure::* value, double scale, int color) {
  std::map<std::int64_t, std::vector<double>> by_epoch;
  for (const auto& [curve, epochs] : log.curves) {
    for (const auto& [epoch, figure] : epochs) {
      auto& values = by_epoch[epoch];
      if (std::isfinite(figure.*value)) values.push_back(Scaled(figure.*value, scale));
    }
  }
  ChartSeries series;
  series.name = what + ", mean";
  series.color = color;
  for (const auto& [epoch, values] : by_epoch) {
    double sum = 0.0, low = std::numeric_limits<double>::quiet_NaN(), high = low;
    for (const double each : values) {
      sum += each;
      low = std::fmin(low, each);
      high = std::fmax(high, each);
    }
    series.x.push_back(static_cast<double>(epoch));
    series.y.push_back(values.empty() ? low : sum / static_cast<double>(values.size()));
    series.low.push_back(low);
    series.high.push_back(high);
  }
  return series;
}

// One line a curve, or all of them as one.
void AddSeries(Chart& chart, const EpochLog& log, const std::string& what,
               double EpochFigure::* value, double scale, int color) {
  if (log.curves.size() > kMaxCurves) {
    auto mean = MeanSeries(log, what, value, scale, color);
    if (HasValues(mean)) chart.series.push_back(std::move(mean));
    return;
  }
  const CurveNames names = NamesOf(log);
  for (const auto& [curve, epochs] : log.curves) {
    ChartSeries series;
    series.name = Named(what, curve, names);
    series.color = color++ % 8;
    for (const auto& [epoch, figure] : epochs) {
      series.x.push_back(static_cast<double>(epoch));
      series.y.push_back(Scaled(figure.*value, scale));
    }
    if (HasValues(series)) chart.series.push_back(std::move(series));
  }
}

Chart EpochChart(std::string id, std::string heading, std::string caption,
                 const std::string& y_name, const EpochLog& log) {
  Chart chart;
  chart.id = std::move(id);
  chart.heading = std::move(heading);
  chart.caption = std::move(caption);
  if (log.curves.size() > kMaxCurves) {
    chart.caption += " Mean of " +
                     FormatCount(static_cast<std::int64_t>(log.curves.size())) +
                     " curves, between the lowest and the highest.";
  }
  chart.label = chart.heading + " over the epochs";
  chart.x.name = "epoch";
  chart.x.whole = true;
  chart.y.name = y_name;
  return chart;
}

}  // namespace

void AddTrainingSection(Markup& page, const EpochLog& log) {
  Chart loss = EpochChart("loss", "Loss", "Mean cross-entropy after each epoch.",
                          "cross-entropy", log);
  AddSeries(loss, log, "training", &EpochFigure::loss, 1.0, 0);
  AddSeries(loss, log, "validation", &EpochFigure::validate_loss, 1.0,
            static_cast<int>(std::min(log.curves.size(), kMaxCurves)));
  Chart quality =
      EpochChart("validation", "Validation",
                 "Micro-F1 on validation nodes after each epoch.", "Micro-F1 %", log);
  AddSeries(quality, log, "validation", &EpochFigure::validate_micro_f1, 100.0, 0);
  page.Open("section").Element("h2", "Training").Line();
  AddFigures(page, {loss, quality});
  if (log.num_skipped > 0) {
    page.Element("p",
                 FormatCount(static_cast<std::int64_t>(log.num_skipped)) +
                     " lines of metrics.jsonl could not be read and are left out.",
                 {{"class", "muted"}});
  }
  page.Close().Line();
}

}  // namespace coden
