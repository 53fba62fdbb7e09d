#include <cmath>

#include "base/table_column_internal.h"
#include "coden/base/printable.h"
#include "report/chart_figure_internal.h"
#include "report/report_sections_internal.h"

namespace coden {

namespace {

constexpr const char* kFile = "work.parquet";

Chart SnapshotChart(std::string id, std::string heading, std::string caption,
                    std::string y_name) {
  Chart chart;
  chart.id = std::move(id);
  chart.heading = std::move(heading);
  chart.caption = std::move(caption);
  chart.label = chart.heading + " of every snapshot";
  chart.x = {.name = "snapshot", .whole = true};
  chart.y = {.name = std::move(y_name), .from_zero = true};
  return chart;
}

Chart StageChart(std::string id, std::string heading, std::string caption,
                 std::string y_name, std::vector<std::string> stages,
                 const std::vector<double>& values, int color) {
  Chart chart;
  chart.id = std::move(id);
  chart.heading = std::move(heading);
  chart.caption = std::move(caption);
  chart.label = chart.heading + ":";
  chart.y.name = std::move(y_name);
  ChartSeries series{chart.heading, SeriesStyle::kBars, {}, values, {}, {}, color};
  for (std::size_t i = 0; i < stages.size(); ++i) {
    series.x.push_back(static_cast<double>(i));
    chart.label += (i == 0 ? " " : ", ") + stages[i] + " " + FormatShortest(values[i]);
  }
  chart.x = {.name = "stage", .whole = true, .categories = std::move(stages)};
  chart.series = {std::move(series)};
  return chart;
}

// Numbers of a run differ from the next time anyway; more digits would only be noise.
double Rounded(double value, double unit) { return std::round(value / unit) * unit; }

}  // namespace

arrow::Result<std::vector<Chart>> WorkCharts(const arrow::Table& work) {
  ARROW_ASSIGN_OR_RAISE(const auto snapshots, IntegerColumn(work, kFile, "snapshot"));
  ARROW_ASSIGN_OR_RAISE(const auto seconds, RealColumn(work, kFile, "seconds"));
  const std::vector<double> x(snapshots.begin(), snapshots.end());
  const auto add = [&](Chart& chart, const std::string& name, const std::string& column,
                       int color) -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const auto values, IntegerColumn(work, kFile, column));
    const std::vector<double> y(values.begin(), values.end());
    chart.series.push_back({name, SeriesStyle::kLine, x, y, {}, {}, color});
    return arrow::Status::OK();
  };
  Chart time =
      SnapshotChart("solver-time", "Solver time",
                    "Time from the last snapshot's embeddings to this one's.", "seconds");
  time.series = {{"seconds", SeriesStyle::kStems, x, seconds, {}, {}, 0}};
  Chart arcs = SnapshotChart(
      "solver-arcs", "Solver work",
      "Arcs that were followed, summed over blocks of columns: in sweeps over the graph, "
      "and in pushes around what changed.",
      "arcs");
  ARROW_RETURN_NOT_OK(add(arcs, "in sweeps", "swept_arcs", 0));
  ARROW_RETURN_NOT_OK(add(arcs, "in pushes", "pushed_arcs", 1));
  Chart steps =
      SnapshotChart("solver-steps", "Sweeps",
                    "Sweeps of the block of columns that took most, and those in double "
                    "precision, which prove the error.",
                    "sweeps");
  steps.y.whole = true;
  ARROW_RETURN_NOT_OK(add(steps, "sweeps", "sweeps", 0));
  ARROW_RETURN_NOT_OK(add(steps, "proving sweeps", "proving_sweeps", 1));
  Chart pushes =
      SnapshotChart("solver-pushes", "Pushes",
                    "Rows whose residue was pushed on to their neighbours, summed over "
                    "blocks of columns.",
                    "pushes");
  pushes.y.whole = true;
  ARROW_RETURN_NOT_OK(add(pushes, "pushes", "pushes", 2));
  return std::vector<Chart>{time, arcs, steps, pushes};
}

void AddResourcesSection(Markup& page, std::span<const StageFigure> stages) {
  std::vector<std::string> timed, measured;
  std::vector<double> seconds, megabytes;
  for (const StageFigure& stage : stages) {
    if (stage.seconds >= 0.0) {
      timed.push_back(stage.name);
      seconds.push_back(Rounded(stage.seconds, 1e-4));
    }
    if (stage.peak_bytes > 0) {
      measured.push_back(stage.name);
      megabytes.push_back(Rounded(static_cast<double>(stage.peak_bytes) / 1e6, 0.1));
    }
  }
  std::vector<Chart> charts;
  if (!timed.empty()) {
    charts.push_back(
        StageChart("stage-time", "Time by stage",
                   "Wall time at work; stages of one pass run at the same time.",
                   "seconds", timed, seconds, 0));
  }
  if (!measured.empty()) {
    charts.push_back(
        StageChart("stage-memory", "Memory by stage",
                   "The most memory the program had taken by the end of each "
                   "stage.",
                   "MB", measured, megabytes, 2));
  }
  if (charts.empty()) return;
  page.Open("section").Element("h2", "Time and memory").Line();
  AddFigures(page, charts);
  page.Close().Line();
}

}  // namespace coden
