#include <cmath>
#include <map>

#include "coden/report/printable.h"
#include "report/html_table_internal.h"
#include "report/report_sections_internal.h"
#include "report/table_column_internal.h"

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

Chart SigmaChart(const Schedule& schedule, double lambda) {
  Chart chart;
  chart.label = "Accumulated sigma of " + std::to_string(schedule.size()) + " snapshots";
  chart.x_name = "snapshot";
  chart.y_name = "sigma";
  chart.whole_x = true;
  ChartSeries between{"between prediction times", SeriesStyle::kStems, {}, 0};
  ChartSeries at_prediction{"at a prediction time", SeriesStyle::kStems, {}, 1};
  for (const auto& point : schedule) {
    ChartSeries& series = point.at_prediction ? at_prediction : between;
    series.points.push_back({static_cast<double>(point.snapshot), point.sigma,
                             "snapshot " + std::to_string(point.snapshot) + ", time " +
                                 std::to_string(point.time) + ": sigma " +
                                 FormatFixed(point.sigma, 4)});
  }
  chart.series = {std::move(between), std::move(at_prediction)};
  if (std::isfinite(lambda)) {
    chart.levels.push_back({"λ = " + FormatShortest(lambda), lambda});
  }
  return chart;
}

Chart ErrorChart(const Schedule& schedule, double epsilon) {
  Chart chart;
  chart.label = "Proven error of " + std::to_string(schedule.size()) + " snapshots";
  chart.x_name = "snapshot";
  chart.y_name = "error / ε";
  chart.whole_x = true;
  chart.zero_y = true;
  ChartSeries series{"error bound", SeriesStyle::kStems, {}, 2};
  for (const auto& point : schedule) {
    const double bound = point.error_bound.value_or(0.0);
    series.points.push_back({static_cast<double>(point.snapshot), bound / epsilon,
                             "snapshot " + std::to_string(point.snapshot) + ": at most " +
                                 FormatScientific(bound, 2) + " per node"});
  }
  chart.series = {std::move(series)};
  chart.levels.push_back({"ε = " + FormatShortest(epsilon), 1.0});
  return chart;
}

Chart IntervalChart(const Schedule& schedule) {
  std::map<int, int> num_snapshots;
  for (const auto& point : schedule) ++num_snapshots[point.prediction];
  Chart chart;
  chart.label = "Snapshots in each of " + std::to_string(num_snapshots.size()) +
                " prediction intervals";
  chart.x_name = "prediction interval (0: initial graph)";
  chart.y_name = "snapshots";
  chart.whole_x = true;
  chart.whole_y = true;
  ChartSeries series{"snapshots", SeriesStyle::kBars, {}, 0};
  for (const auto& [prediction, count] : num_snapshots) {
    series.points.push_back({static_cast<double>(prediction), static_cast<double>(count),
                             "interval " + std::to_string(prediction) + ": " +
                                 std::to_string(count) +
                                 (count == 1 ? " snapshot" : " snapshots")});
  }
  chart.series.push_back(std::move(series));
  return chart;
}

Chart SizeChart(const Schedule& schedule, const std::string& what,
                std::int64_t SchedulePoint::* size, int color) {
  Chart chart;
  chart.label = "Number of " + what + " in the graph over time";
  chart.x_name = "time";
  chart.y_name = what;
  chart.whole_x = true;
  chart.whole_y = true;
  chart.zero_y = true;
  ChartSeries series{what, SeriesStyle::kLine, {}, color};
  for (const auto& point : schedule) {
    // Before the first event there is no time on the log's own scale.
    if (point.events == 0) continue;
    series.points.push_back({static_cast<double>(point.time),
                             static_cast<double>(point.*size),
                             "time " + std::to_string(point.time) + ": " +
                                 FormatCount(point.*size) + " " + what});
  }
  chart.series.push_back(std::move(series));
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
  page.Open("div", {{"class", "pair"}});
  AddFigure(page, "Shift bound",
            "Bound on how far the embeddings moved since the snapshot before. Past λ a "
            "snapshot is taken.",
            SigmaChart(schedule, lambda));
  AddFigure(page, "Snapshots per interval",
            "How many snapshots were taken up to each prediction time.",
            IntervalChart(schedule));
  page.Close().Line();
  page.Open("details").Element("summary", "The schedule").Line();
  page.Raw(HtmlTable(ScheduleTable(schedule), kMaxTableRows, "schedule.parquet"));
  page.Close().Close().Line();
}

void AddEmbeddingSection(Markup& page, const Schedule& schedule, double epsilon) {
  if (!std::isfinite(epsilon)) return;
  page.Open("section").Element("h2", "Embedding").Line();
  AddFigure(page, "Proven error",
            "Bound on the mean error per node of the worst column, as written, in units "
            "of ε.",
            ErrorChart(schedule, epsilon));
  page.Close().Line();
}

void AddGraphSection(Markup& page, const Schedule& schedule) {
  page.Open("section").Element("h2", "Graph").Line();
  page.Open("div", {{"class", "pair"}});
  AddFigure(page, "Nodes", "Nodes seen in an event or a feature row.",
            SizeChart(schedule, "nodes", &SchedulePoint::num_nodes, 2));
  AddFigure(page, "Edges", "Edges present; an undirected edge counts once.",
            SizeChart(schedule, "edges", &SchedulePoint::num_edges, 2));
  page.Close().Close().Line();
}

}  // namespace coden
