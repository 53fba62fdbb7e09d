#include "report/comparison_internal.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "coden/base/printable.h"
#include "report/report_sections_internal.h"
#include "report/training_facts_internal.h"

namespace coden {

namespace {

constexpr double kMegabyte = 1e6;

double TotalSeconds(const RunSummary& run) {
  double seconds = 0.0;
  for (const auto& stage : run.stages) seconds += std::max(0.0, stage.seconds);
  return seconds;
}

std::int64_t PeakBytes(const RunSummary& run) {
  std::int64_t peak = 0;
  for (const auto& stage : run.stages) peak = std::max(peak, stage.peak_bytes);
  return peak;
}

ResultsTable RunsTable(const std::vector<RunSummary>& runs) {
  ResultsTable table;
  table.key = "runs";
  table.title = "Runs";
  table.columns = {{"run", "run"},
                   {"model", "model"},
                   {"micro_f1", "Micro-F1 %", ColumnType::kPercent},
                   {"micro_f1_deviation", "±", ColumnType::kPercent},
                   {"control", "best control"},
                   {"control_micro_f1", "control %", ColumnType::kPercent},
                   {"gain", "gain", ColumnType::kPercent},
                   {"last_micro_f1", "last %", ColumnType::kPercent},
                   {"protocol", "protocol"},
                   {"training_runs", "seeds", ColumnType::kInteger},
                   {"snapshots", "snapshots", ColumnType::kInteger},
                   {"seconds", "seconds", ColumnType::kReal, /*digits=*/2},
                   {"peak_bytes", "peak memory", ColumnType::kBytes}};
  for (const auto& run : runs) {
    std::vector<Cell> row(10);
    row[0] = run.name;
    if (run.quality) {
      row[1] = std::string(FindIniSetting(run.settings, "train", "model"));
      row[2] = run.quality->average.micro_f1;
      row[3] = run.quality->average.micro_f1_deviation;
      row[4] = run.quality->control.name;
      row[5] = run.quality->average.*run.quality->control.score;
      row[6] = run.quality->Gain(run.quality->average);
      if (run.quality->last) row[7] = run.quality->scores[*run.quality->last].micro_f1;
      row[8] = std::string(FindIniSetting(run.settings, "train", "protocol"));
      row[9] = static_cast<std::int64_t>(run.quality->num_runs);
    }
    row.emplace_back(run.num_snapshots);
    row.emplace_back(TotalSeconds(run));
    const std::int64_t peak = PeakBytes(run);
    row.push_back(peak == 0 ? Cell() : Cell(peak));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::int64_t> PredictionTimes(const MicroF1Summary& quality) {
  std::vector<std::int64_t> times;
  times.reserve(quality.scores.size());
  for (const PredictionScore& score : quality.scores) times.push_back(score.time);
  return times;
}

// Why scores of trained runs must not be held against each other.
std::vector<std::string> Warnings(const std::vector<RunSummary>& runs) {
  std::vector<std::string> protocols, splits;
  std::vector<std::vector<std::int64_t>> times;
  for (const auto& run : runs) {
    if (!run.quality) continue;
    protocols.emplace_back(FindIniSetting(run.settings, "train", "protocol"));
    splits.push_back(SplitFacts(run.settings));
    times.push_back(PredictionTimes(*run.quality));
  }
  const auto differ = [](const auto& values) {
    return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) !=
           values.end();
  };
  std::vector<std::string> warnings;
  if (differ(protocols)) {
    std::string text = "the runs have different protocols (`train.protocol`), so their ";
    text += "scores cannot be compared";
    if (std::find(protocols.begin(), protocols.end(), "shared") != protocols.end())
      text += ": `shared` learns from later times than it predicts";
    warnings.push_back(std::move(text));
  }
  if (differ(splits)) {
    warnings.emplace_back(
        "the runs have different splits or labels (`train.split`, `train.split_by`, "
        "`input.split`, `input.labels`, `run.seed`, `train.runs`), so their scores are "
        "over "
        "different test nodes");
  }
  if (differ(times)) {
    warnings.emplace_back(
        "the runs have different prediction times, so their averages and last scores are "
        "of different times");
  }
  return warnings;
}

// Stages of all runs, in the order of the first run that has them.
std::vector<std::string> StageNames(const std::vector<RunSummary>& runs) {
  std::vector<std::string> names;
  for (const auto& run : runs) {
    for (const auto& stage : run.stages) {
      if (std::find(names.begin(), names.end(), stage.name) == names.end()) {
        names.push_back(stage.name);
      }
    }
  }
  return names;
}

const StageFigure* FindStage(const RunSummary& run, const std::string& name) {
  for (const auto& stage : run.stages) {
    if (stage.name == name) return &stage;
  }
  return nullptr;
}

ResultsTable StagesTable(const std::vector<RunSummary>& runs) {
  ResultsTable table;
  table.key = "stages";
  table.title = "Seconds by stage";
  table.columns = {{"stage", "stage"}};
  for (const auto& run : runs) {
    table.columns.push_back({run.name, run.name, ColumnType::kReal, /*digits=*/2});
  }
  for (const auto& name : StageNames(runs)) {
    std::vector<Cell> row = {name};
    for (const auto& run : runs) {
      const StageFigure* stage = FindStage(run, name);
      row.emplace_back();
      if (stage != nullptr && stage->seconds >= 0.0) row.back() = stage->seconds;
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

ResultsTable SettingsTable(const std::vector<RunSummary>& runs) {
  ResultsTable table;
  table.key = "settings";
  table.title = "Settings that differ";
  table.columns = {{"key", "setting"}};
  std::vector<std::string> keys;
  std::vector<std::map<std::string, std::string>> texts;
  for (const auto& run : runs) {
    table.columns.push_back({.key = run.name, .header = run.name, .if_empty = "(none)"});
    auto& own = texts.emplace_back();
    for (const auto& section : run.settings) {
      for (const auto& setting : section.settings) {
        const std::string key = section.name + "." + setting.name;
        if (key == "run.directory") continue;
        own[key] = MaskCredentials(setting.text);
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
      }
    }
  }
  for (const auto& key : keys) {
    std::vector<Cell> row = {key};
    bool differ = false;
    for (const auto& own : texts) {
      const auto found = own.find(key);
      row.push_back(found == own.end() ? Cell() : Cell(found->second));
      differ |= row.back() != row[1];
    }
    if (differ) table.rows.push_back(std::move(row));
  }
  return table;
}

Chart QualityChart(const std::vector<RunSummary>& runs) {
  Chart chart;
  chart.id = "micro-f1";
  chart.heading = "Micro-F1";
  chart.caption =
      "On test nodes at each prediction time; of a run that trained several times the "
      "mean, with one standard deviation to both sides.";
  chart.label = "Micro-F1 in percent of " + std::to_string(runs.size()) +
                " runs over prediction times";
  chart.x = {.name = "prediction time", .whole = true};
  chart.y = {.name = "%"};
  int color = 0;
  for (const auto& run : runs) {
    ChartSeries series{.name = run.name, .color = color++ % 8};
    if (!run.quality) continue;
    const MicroF1Summary& quality = *run.quality;
    for (const auto& score : quality.scores) {
      series.x.push_back(static_cast<double>(score.time));
      series.y.push_back(InPercent(score.micro_f1));
      if (quality.num_runs < 2) continue;
      const double deviation =
          std::isfinite(score.micro_f1_deviation) ? score.micro_f1_deviation : 0.0;
      series.low.push_back(InPercent(score.micro_f1 - deviation));
      series.high.push_back(InPercent(score.micro_f1 + deviation));
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Chart SnapshotsChart(const std::vector<RunSummary>& runs) {
  Chart chart;
  chart.id = "snapshots";
  chart.heading = "Snapshots";
  chart.caption = "How many snapshots each run took.";
  chart.label = "Number of snapshots of each run";
  chart.x.whole = true;
  chart.y = {.name = "snapshots", .whole = true};
  ChartSeries series{.name = "snapshots", .style = SeriesStyle::kBars};
  for (const auto& run : runs) {
    series.x.push_back(static_cast<double>(series.x.size()));
    series.y.push_back(static_cast<double>(run.num_snapshots));
    chart.x.categories.push_back(run.name);
  }
  chart.x.name = "run";
  chart.series = {std::move(series)};
  return chart;
}

// Bars by stage, of all runs side by side. `value` of a stage is negative where unknown.
Chart StagesChart(const std::vector<RunSummary>& runs, Chart chart,
                  double (*value)(const StageFigure&)) {
  chart.label = chart.heading + " of every run";
  chart.x = {.name = "stage", .whole = true, .categories = StageNames(runs)};
  int color = 0;
  for (const auto& run : runs) {
    ChartSeries series{
        .name = run.name, .style = SeriesStyle::kBars, .color = color++ % 8};
    for (std::size_t i = 0; i < chart.x.categories.size(); ++i) {
      const StageFigure* stage = FindStage(run, chart.x.categories[i]);
      const double y = stage == nullptr ? -1.0 : value(*stage);
      series.x.push_back(static_cast<double>(i));
      series.y.push_back(y < 0.0 ? std::nan("") : y);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

double SecondsOf(const StageFigure& stage) {
  return stage.seconds < 0.0 ? -1.0 : std::round(stage.seconds * 1e4) / 1e4;
}

double MegabytesOf(const StageFigure& stage) {
  if (stage.peak_bytes == 0) return -1.0;
  return std::round(static_cast<double>(stage.peak_bytes) / kMegabyte * 10.0) / 10.0;
}

HtmlPage ComparisonPage(const std::vector<RunSummary>& runs,
                        const Comparison& comparison) {
  HtmlPage page;
  page.title = "coden: " + std::to_string(runs.size()) + " runs compared";
  for (const auto& run : runs) {
    page.summary += (page.summary.empty() ? "" : ", ") + run.name;
  }
  ResultsTable table = comparison.runs;
  table.title.clear();  // the section has it
  std::string text;
  for (const std::string& warning : comparison.warnings)
    text += (text.empty() ? "Warning: " : "; ") + warning;
  page.sections.push_back({"Runs", std::move(text), {}, {std::move(table)}});
  page.sections.push_back({"Prediction quality", "", {QualityChart(runs)}, {}});
  PageSection work{"Snapshots, time and memory", "", {SnapshotsChart(runs)}, {}};
  Chart time;
  time.id = "stage-time";
  time.heading = "Time by stage";
  time.caption = "Wall time at work; stages of one pass run at the same time.";
  time.y.name = "seconds";
  work.charts.push_back(StagesChart(runs, time, SecondsOf));
  const bool measured = std::any_of(
      runs.begin(), runs.end(), [](const RunSummary& run) { return PeakBytes(run) > 0; });
  if (measured) {
    Chart memory;
    memory.id = "stage-memory";
    memory.heading = "Memory by stage";
    memory.caption = "The most memory the program had taken by the end of each stage.";
    memory.y.name = "MB";
    work.charts.push_back(StagesChart(runs, memory, MegabytesOf));
  }
  page.sections.push_back(std::move(work));
  PageSection settings{"Settings that differ", "", {}, {}};
  if (comparison.settings.rows.empty()) {
    settings.text = "No setting differs but the folder.";
  } else {
    settings.tables = {comparison.settings};
    settings.tables.front().title.clear();
  }
  page.sections.push_back(std::move(settings));
  return page;
}

}  // namespace

Comparison Compare(const std::vector<RunSummary>& runs) {
  Comparison comparison{
      RunsTable(runs), StagesTable(runs), SettingsTable(runs), Warnings(runs), {}};
  comparison.page = ComparisonPage(runs, comparison);
  return comparison;
}

}  // namespace coden
