#include <cmath>
#include <map>

#include "base/table_column_internal.h"
#include "coden/base/printable.h"
#include "report/chart_figure_internal.h"
#include "report/html_table_internal.h"
#include "report/report_sections_internal.h"

namespace coden {

namespace {

constexpr std::size_t kMaxTableRows = 500;

ResultsTable ScheduleTable(const Schedule& schedule) {
  ResultsTable table;
  table.columns = {{"snapshot", "snapshot", ColumnType::kInteger},
                   {"prediction", "interval", ColumnType::kInteger},
                   {"at_prediction", "taken at", ColumnType::kText},
                   {"time", "time", ColumnType::kInteger},
                   {"events", "events", ColumnType::kInteger},
                   {"num_nodes", "nodes", ColumnType::kInteger},
                   {"num_edges", "edges", ColumnType::kInteger},
                   {"sigma", "sigma", ColumnType::kReal, 4},
                   {"error_bound", "error bound", ColumnType::kText}};
  for (const auto& point : schedule) {
    const std::string reason = point.at_prediction     ? "prediction time"
                               : point.prediction == 0 ? "initial graph"
                                                       : "threshold";
    table.rows.push_back(
        {std::int64_t{point.snapshot}, std::int64_t{point.prediction}, reason, point.time,
         point.events, point.num_nodes, point.num_edges, point.sigma,
         point.error_bound ? FormatScientific(*point.error_bound, 2) : std::string()});
  }
  return table;
}

// Sigma grows from zero to its value at the next snapshot and falls back there.
Chart SigmaChart(const Schedule& schedule, double lambda) {
  Chart chart;
  chart.id = "sigma";
  chart.heading = "Shift bound";
  chart.caption =
      "Bound on how far the embeddings moved since the snapshot before; past λ a "
      "snapshot "
      "is taken. It is known at the snapshots and drawn straight between them.";
  chart.label = "Accumulating sigma of " + std::to_string(schedule.size()) +
                " snapshots over the rows of the log";
  chart.x = {.name = "rows of the log", .whole = true};
  chart.y = {.name = "σ", .from_zero = true};
  ChartSeries growing{.name = "σ", .color = 7};
  ChartSeries between{.name = "snapshot past λ", .style = SeriesStyle::kDots, .color = 0};
  ChartSeries closing{
      .name = "snapshot at a prediction time", .style = SeriesStyle::kDots, .color = 1};
  for (const auto& point : schedule) {
    const auto x = static_cast<double>(point.events);
    if (point.snapshot > 0) {
      growing.x.push_back(x);
      growing.y.push_back(point.sigma);
      ChartSeries& series = point.at_prediction ? closing : between;
      series.x.push_back(x);
      series.y.push_back(point.sigma);
    }
    growing.x.push_back(x);
    growing.y.push_back(0.0);
  }
  for (auto* series : {&growing, &between, &closing}) {
    if (!series->x.empty()) chart.series.push_back(std::move(*series));
  }
  if (std::isfinite(lambda)) {
    chart.levels.push_back({"λ = " + FormatShortest(lambda), lambda});
  }
  return chart;
}

Chart IntervalChart(const Schedule& schedule) {
  std::map<int, int> num_snapshots;
  for (const auto& point : schedule) ++num_snapshots[point.prediction];
  Chart chart;
  chart.id = "snapshots-per-interval";
  chart.heading = "Snapshots per interval";
  chart.caption = "How many snapshots were taken up to each prediction time.";
  chart.label = "Snapshots in each of " + std::to_string(num_snapshots.size()) +
                " prediction intervals";
  chart.x = {.name = "prediction interval (0: initial graph)", .whole = true};
  chart.y = {.name = "snapshots", .whole = true};
  ChartSeries series{.name = "snapshots", .style = SeriesStyle::kBars, .color = 0};
  for (const auto& [prediction, count] : num_snapshots) {
    series.x.push_back(static_cast<double>(prediction));
    series.y.push_back(static_cast<double>(count));
  }
  chart.series.push_back(std::move(series));
  return chart;
}

ChartSeries OverTime(const Schedule& schedule, std::string name,
                     std::int64_t SchedulePoint::* value, int color) {
  ChartSeries series{.name = std::move(name), .color = color};
  for (const auto& point : schedule) {
    // Before the first event there is no time on the log's own scale.
    if (point.events == 0) continue;
    series.x.push_back(static_cast<double>(point.time));
    series.y.push_back(static_cast<double>(point.*value));
  }
  return series;
}

Chart TimeChart(std::string id, std::string heading, std::string caption,
                std::string y_name) {
  Chart chart;
  chart.id = std::move(id);
  chart.heading = std::move(heading);
  chart.caption = std::move(caption);
  chart.label = chart.heading + " over time";
  chart.x = {.name = "time", .whole = true};
  chart.y = {.name = std::move(y_name), .whole = true, .from_zero = true};
  return chart;
}

}  // namespace

arrow::Result<Schedule> ReadScheduleColumns(const arrow::Table& table) {
  const std::string file = "schedule.parquet";
  ARROW_ASSIGN_OR_RAISE(const auto snapshot, IntegerColumn(table, file, "snapshot"));
  ARROW_ASSIGN_OR_RAISE(const auto prediction, IntegerColumn(table, file, "prediction"));
  ARROW_ASSIGN_OR_RAISE(const auto at_prediction,
                        FlagColumn(table, file, "at_prediction"));
  ARROW_ASSIGN_OR_RAISE(const auto time, IntegerColumn(table, file, "time"));
  ARROW_ASSIGN_OR_RAISE(const auto events, IntegerColumn(table, file, "events"));
  ARROW_ASSIGN_OR_RAISE(const auto num_nodes, IntegerColumn(table, file, "num_nodes"));
  ARROW_ASSIGN_OR_RAISE(const auto num_edges, IntegerColumn(table, file, "num_edges"));
  ARROW_ASSIGN_OR_RAISE(const auto sigma, RealColumn(table, file, "sigma"));
  ARROW_ASSIGN_OR_RAISE(const auto bounds, RealColumn(table, file, "error_bound"));
  Schedule schedule(snapshot.size());
  for (std::size_t row = 0; row < snapshot.size(); ++row) {
    schedule[row] = {static_cast<int>(snapshot[row]),
                     static_cast<int>(prediction[row]),
                     at_prediction[row] != 0,
                     time[row],
                     events[row],
                     num_nodes[row],
                     num_edges[row],
                     sigma[row],
                     bounds[row]};
  }
  return schedule;
}

void AddSamplingSection(Markup& page, const Schedule& schedule, double lambda) {
  page.Open("section").Element("h2", "Sampling").Line();
  AddFigures(page, {SigmaChart(schedule, lambda), IntervalChart(schedule)});
  page.Open("details").Element("summary", "The schedule").Line();
  page.Raw(HtmlTable(ScheduleTable(schedule), kMaxTableRows, "schedule.parquet"));
  page.Close().Close().Line();
}

void AddGraphSection(Markup& page, const Schedule& schedule) {
  Chart events = TimeChart("events", "Events", "Rows of the log applied so far.", "rows");
  events.series = {OverTime(schedule, "events", &SchedulePoint::events, 0)};
  Chart size = TimeChart("graph-size", "Graph size",
                         "Nodes seen in an event or a feature row, and edges present; an "
                         "undirected edge counts once.",
                         "nodes, edges");
  size.series = {OverTime(schedule, "nodes", &SchedulePoint::num_nodes, 2),
                 OverTime(schedule, "edges", &SchedulePoint::num_edges, 3)};
  page.Open("section").Element("h2", "Graph").Line();
  AddFigures(page, {events, size});
  page.Close().Line();
}

Chart ErrorChart(const Schedule& schedule, double epsilon) {
  Chart chart;
  chart.id = "proven-error";
  chart.heading = "Proven error";
  chart.caption =
      "Bound on the mean error per node of the worst column, as written, in units of ε.";
  chart.label = "Proven error of " + std::to_string(schedule.size()) + " snapshots";
  chart.x = {.name = "snapshot", .whole = true};
  chart.y = {.name = "error / ε", .from_zero = true};
  ChartSeries series{.name = "error bound / ε", .style = SeriesStyle::kStems, .color = 2};
  for (const auto& point : schedule) {
    series.x.push_back(static_cast<double>(point.snapshot));
    series.y.push_back(point.error_bound.value_or(std::nan("")) / epsilon);
  }
  chart.series = {std::move(series)};
  chart.levels.push_back({"ε = " + FormatShortest(epsilon), 1.0});
  return chart;
}

}  // namespace coden
