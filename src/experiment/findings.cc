#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "coden/base/printable.h"
#include "experiment/statistics_internal.h"
#include "experiment/suites_internal.h"

namespace coden {

namespace {

constexpr double kMegabyte = 1e6;
constexpr int kNumColors = 8;

// An empty cell in the place of a number that is none.
Cell RealCell(double value) { return std::isfinite(value) ? Cell(value) : Cell(); }

Cell CountCell(double value) {
  return std::isfinite(value) ? Cell(static_cast<std::int64_t>(value)) : Cell();
}

std::string NameOf(const MeasuredTrial& measured) {
  return measured.trial.name + (measured.result.resumed ? " *" : "");
}

ResultsTable SummaryTable(const Suite& suite, std::span<const MeasuredTrial> trials) {
  ResultsTable table;
  table.key = table.title = std::string(suite.name.name);
  table.columns = {
      {std::string(suite.varied), std::string(suite.varied), ColumnType::kText},
      {"snapshots", "snapshots", ColumnType::kInteger},
      {"micro_f1", "Micro-F1 %", ColumnType::kPercent},
      {"deviation", "±", ColumnType::kPercent},
      {"best", "best", ColumnType::kPercent},
      {"worst", "worst", ColumnType::kPercent},
      {"micro_f1_all", "all nodes", ColumnType::kPercent},
      {"embed_seconds", "embed s", ColumnType::kReal, 1},
      {"train_seconds", "train s", ColumnType::kReal, 1},
      {"train_cpu_seconds", "train CPU s", ColumnType::kReal, 1},
      {"train_peak_bytes", "train memory", ColumnType::kBytes}};
  for (const MeasuredTrial& measured : trials) {
    const TrialResult& result = measured.result;
    const Spread average = OverRuns(result, "micro_f1", MeanOf);
    table.rows.push_back({NameOf(measured), CountCell(result.Value("snapshots")),
                          RealCell(average.mean), RealCell(average.deviation),
                          RealCell(OverRuns(result, "micro_f1", Largest).mean),
                          RealCell(OverRuns(result, "micro_f1", Smallest).mean),
                          RealCell(OverRuns(result, "micro_f1_all", MeanOf).mean),
                          RealCell(result.Value("embed_seconds")),
                          RealCell(result.Value("train_seconds")),
                          RealCell(result.Value("train_cpu_seconds")),
                          CountCell(result.Value("train_peak_bytes"))});
  }
  return table;
}

ResultsTable TimesTable(std::span<const MeasuredTrial> trials) {
  ResultsTable table;
  table.key = "by_prediction_time";
  table.title = "By prediction time";
  table.columns = {{"trial", "", ColumnType::kText},
                   {"prediction", "prediction", ColumnType::kInteger},
                   {"time", "time", ColumnType::kInteger},
                   {"micro_f1", "Micro-F1 %", ColumnType::kPercent},
                   {"deviation", "±", ColumnType::kPercent},
                   {"lowest", "lowest", ColumnType::kPercent},
                   {"highest", "highest", ColumnType::kPercent}};
  for (const MeasuredTrial& measured : trials) {
    for (const AtTime& at : OverTime(measured.result, "micro_f1")) {
      const Spread spread = SpreadOf(at.values);
      table.rows.push_back({measured.trial.name, std::int64_t{at.prediction}, at.time,
                            RealCell(spread.mean), RealCell(spread.deviation),
                            RealCell(Smallest(at.values)), RealCell(Largest(at.values))});
    }
  }
  return table;
}

// `quantity` of every trial over the prediction times, times `factor`.
Chart TimeChart(std::span<const MeasuredTrial> trials, std::string_view quantity,
                double factor) {
  Chart chart;
  chart.x = {.name = "prediction", .whole = true};
  int color = 0;
  for (const MeasuredTrial& measured : trials) {
    ChartSeries series;
    series.name = measured.trial.name;
    series.color = color++ % kNumColors;
    for (const AtTime& at : OverTime(measured.result, quantity)) {
      const Spread spread = SpreadOf(at.values);
      series.x.push_back(at.prediction);
      series.y.push_back(factor * spread.mean);
      series.low.push_back(factor * spread.low());
      series.high.push_back(factor * spread.high());
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Chart ScoreChart(std::span<const MeasuredTrial> trials) {
  Chart chart = TimeChart(trials, "micro_f1", 100.0);
  chart.id = "micro_f1_over_time";
  chart.heading = "Micro-F1 over the prediction times";
  chart.caption = "Mean over the seeds, with one standard deviation to either side.";
  chart.label = "Micro-F1 in percent at every prediction time";
  chart.y = {.name = "Micro-F1 %"};
  return chart;
}

// One number of each trial against what was varied.
struct Against {
  std::string id, heading, caption, y_name;
  std::function<Spread(const TrialResult&)> number;
};

Chart AgainstChart(const Suite& suite, std::span<const MeasuredTrial> trials,
                   bool categories, const Against& against) {
  Chart chart;
  chart.id = against.id;
  chart.heading = against.heading;
  chart.caption = against.caption;
  chart.label = against.heading + " against " + std::string(suite.varied);
  chart.x.name = suite.varied;
  chart.y = {.name = against.y_name, .from_zero = categories};
  chart.x.logarithmic = !categories;
  ChartSeries series{.name = against.y_name,
                     .style = categories ? SeriesStyle::kBars : SeriesStyle::kLine};
  std::vector<const MeasuredTrial*> order;
  order.reserve(trials.size());
  for (const MeasuredTrial& measured : trials) order.push_back(&measured);
  if (!categories) {
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return a->trial.x < b->trial.x;
    });
  }
  for (const MeasuredTrial* measured : order) {
    const Spread spread = against.number(measured->result);
    series.x.push_back(categories ? static_cast<double>(series.x.size())
                                  : measured->trial.x);
    series.y.push_back(spread.mean);
    series.low.push_back(spread.low());
    series.high.push_back(spread.high());
    if (categories) chart.x.categories.push_back(measured->trial.name);
  }
  chart.series.push_back(std::move(series));
  return chart;
}

std::vector<Against> AccuracyNumbers() {
  return {
      {"average", "Accuracy", "Average Micro-F1 over the prediction times.", "Micro-F1 %",
       [](const TrialResult& result) {
         Spread spread = OverRuns(result, "micro_f1", MeanOf);
         return Spread{100.0 * spread.mean, 100.0 * spread.deviation};
       }},
      {"train_cpu_seconds", "Training time",
       "Processor time of all seeds, which other work on the machine changes little.",
       "CPU seconds", [](const TrialResult& result) {
         return Spread{result.Value("train_cpu_seconds")};
       }}};
}

Findings Find(const Suite& suite, std::span<const MeasuredTrial> trials, bool categories,
              const std::vector<Against>& numbers) {
  Findings findings;
  findings.tables = {SummaryTable(suite, trials)};
  findings.charts = {ScoreChart(trials)};
  if (trials.size() == 1) {
    findings.tables.push_back(TimesTable(trials));
    return findings;
  }
  for (const Against& against : numbers)
    findings.charts.push_back(AgainstChart(suite, trials, categories, against));
  return findings;
}

}  // namespace

Findings FindAccuracy(const Suite& suite, std::span<const MeasuredTrial> trials) {
  return Find(suite, trials, /*categories=*/true, AccuracyNumbers());
}

Findings FindSweep(const Suite& suite, std::span<const MeasuredTrial> trials) {
  std::vector<Against> numbers = AccuracyNumbers();
  numbers.push_back(
      {"snapshots", "Snapshots", "Snapshots that were taken in all.", "snapshots",
       [](const TrialResult& result) { return Spread{result.Value("snapshots")}; }});
  return Find(suite, trials, /*categories=*/false, numbers);
}

Findings FindEnergy(const Suite&, std::span<const MeasuredTrial> trials) {
  Findings findings;
  ResultsTable table;
  table.key = table.title = "energy";
  table.columns = {{"model", "model", ColumnType::kText},
                   {"energy", "energy", ColumnType::kReal, 1},
                   {"relative", "relative", ColumnType::kReal, 4},
                   {"relative_first", "first", ColumnType::kReal, 4},
                   {"relative_last", "last", ColumnType::kReal, 4},
                   {"micro_f1", "Micro-F1 %", ColumnType::kPercent}};
  for (const MeasuredTrial& measured : trials) {
    const auto relative = OverTime(measured.result, "relative_energy");
    const auto at = [&](bool first) {
      if (relative.empty()) return Cell();
      return RealCell(MeanOf(first ? relative.front().values : relative.back().values));
    };
    table.rows.push_back(
        {NameOf(measured),
         RealCell(OverRuns(measured.result, "dirichlet_energy", MeanOf).mean),
         RealCell(OverRuns(measured.result, "relative_energy", MeanOf).mean), at(true),
         at(false), RealCell(OverRuns(measured.result, "micro_f1", MeanOf).mean)});
  }
  findings.tables = {std::move(table)};
  Chart energy = TimeChart(trials, "dirichlet_energy", 1.0);
  energy.id = "dirichlet_energy";
  energy.heading = "Dirichlet energy";
  energy.caption = "Of what the temporal part gives for every labelled node.";
  energy.label = "Dirichlet energy at every prediction time";
  energy.y = {.name = "energy", .logarithmic = true};
  Chart relative = TimeChart(trials, "relative_energy", 1.0);
  relative.id = "relative_energy";
  relative.heading = "Energy relative to the size";
  relative.caption =
      "Divided by the sum of squares, so that models of another scale compare.";
  relative.label = "Dirichlet energy divided by the sum of squares";
  relative.y = {.name = "relative energy", .from_zero = true};
  findings.charts = {std::move(energy), std::move(relative)};
  return findings;
}

Findings FindScaling(const Suite&, std::span<const MeasuredTrial> trials) {
  Findings findings;
  ResultsTable table;
  table.key = table.title = "scaling";
  table.columns = {{"varied", "varied", ColumnType::kText},
                   {"value", "value", ColumnType::kInteger},
                   {"rows", "rows", ColumnType::kInteger},
                   {"nodes", "nodes", ColumnType::kInteger},
                   {"snapshots", "snapshots", ColumnType::kInteger},
                   {"seconds", "seconds", ColumnType::kReal, 2},
                   {"cpu_seconds", "CPU s", ColumnType::kReal, 2},
                   {"peak_bytes", "memory", ColumnType::kBytes}};
  std::map<std::string, std::vector<const MeasuredTrial*>> groups;
  std::vector<std::string> order;
  for (const MeasuredTrial& measured : trials) {
    const TrialResult& result = measured.result;
    table.rows.push_back(
        {measured.trial.group, CountCell(measured.trial.x),
         CountCell(result.Value("rows")), CountCell(result.Value("nodes")),
         CountCell(result.Value("snapshots")), RealCell(result.Value("embed_seconds")),
         RealCell(result.Value("embed_cpu_seconds")),
         CountCell(result.Value("embed_peak_bytes"))});
    auto& group = groups[measured.trial.group];
    if (group.empty()) order.push_back(measured.trial.group);
    group.push_back(&measured);
  }
  findings.tables = {std::move(table)};
  for (const std::string& name : order) {
    for (const bool memory : {false, true}) {
      Chart chart;
      chart.id = memory ? "memory_" : "time_";
      chart.id += name.substr(0, name.find(' '));
      chart.heading = memory ? "Memory against " : "Time against ";
      chart.heading += name;
      chart.caption = "Of `coden embed` from the log to the snapshots.";
      chart.label = chart.heading;
      chart.x = {.name = name, .whole = true};
      chart.y = {.name = memory ? "MB" : "seconds", .from_zero = true};
      ChartSeries series{.name = chart.y.name};
      for (const MeasuredTrial* measured : groups[name]) {
        series.x.push_back(measured->trial.x);
        series.y.push_back(memory ? measured->result.Value("embed_peak_bytes") / kMegabyte
                                  : measured->result.Value("embed_seconds"));
      }
      chart.series.push_back(std::move(series));
      findings.charts.push_back(std::move(chart));
    }
  }
  return findings;
}

}  // namespace coden
