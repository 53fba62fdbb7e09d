#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "experiment/statistics_internal.h"
#include "experiment/suites_internal.h"

namespace coden {

namespace {

using BySnapshot = std::map<int, double>;

BySnapshot Values(const TrialResult& result, std::string_view quantity) {
  BySnapshot values;
  for (const Measurement& one : result.measurements) {
    if (one.quantity == quantity) values[one.snapshot] = one.value;
  }
  return values;
}

// Of two quantities where the second is not zero, in order of the snapshots.
std::vector<double> Ratios(const TrialResult& result, std::string_view over,
                           std::string_view under) {
  const BySnapshot numerators = Values(result, over);
  std::vector<double> ratios;
  for (const auto& [snapshot, denominator] : Values(result, under)) {
    const auto found = numerators.find(snapshot);
    if (found != numerators.end() && denominator > 0.0)
      ratios.push_back(found->second / denominator);
  }
  return ratios;
}

double Median(std::vector<double> values) {
  if (values.empty()) return NAN;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Comparison {
  const char* name;
  const char* truth;
  const char* bound;
};

constexpr std::array<Comparison, 5> kComparisons = {
    {{"error against n*epsilon", "true_error", "error_budget"},
     {"error against its proof", "true_error", "proven_error"},
     {"shift against relative sigma", "relative_shift", "sigma_relative"},
     {"shift against strict sigma", "relative_shift", "sigma_strict"},
     {"shift against the paper's sigma", "true_shift", "sigma_paper"}}};

ChartSeries SeriesOf(const TrialResult& result, std::string_view quantity,
                     std::string name, int color) {
  ChartSeries series{.name = std::move(name)};
  series.color = color;
  for (const auto& [snapshot, value] : Values(result, quantity)) {
    series.x.push_back(snapshot);
    series.y.push_back(value);
  }
  return series;
}

}  // namespace

Findings FindErrors(const Suite&, std::span<const MeasuredTrial> trials) {
  Findings findings;
  ResultsTable table;
  table.key = table.title = "error";
  table.columns = {{"comparison", "truth / bound", ColumnType::kText},
                   {"snapshots", "snapshots", ColumnType::kInteger},
                   {"within", "within", ColumnType::kInteger},
                   {"largest", "largest", ColumnType::kReal, 4},
                   {"median", "median", ColumnType::kReal, 4}};
  for (const MeasuredTrial& measured : trials) {
    for (const Comparison& comparison : kComparisons) {
      const std::vector<double> ratios =
          Ratios(measured.result, comparison.truth, comparison.bound);
      if (ratios.empty()) continue;
      const auto within = std::count_if(ratios.begin(), ratios.end(),
                                        [](double ratio) { return ratio <= 1.0; });
      table.rows.push_back(
          {std::string(comparison.name), static_cast<std::int64_t>(ratios.size()),
           static_cast<std::int64_t>(within), Largest(ratios), Median(ratios)});
    }
    Chart error;
    error.id = "true_error";
    error.heading = "Error of the embeddings";
    error.caption =
        "The true L1 error of the worst column looked at, what was proven of it, and n "
        "times epsilon.";
    error.label = "True error, proven error and budget of every snapshot";
    error.x = {.name = "snapshot", .whole = true};
    error.y = {.name = "L1 error", .logarithmic = true};
    error.series = {SeriesOf(measured.result, "true_error", "true", 0),
                    SeriesOf(measured.result, "proven_error", "proven", 1),
                    SeriesOf(measured.result, "error_budget", "n ε", 2)};
    Chart shift;
    shift.id = "true_shift";
    shift.heading = "Shift between snapshots";
    shift.caption =
        "How far the worst column looked at has moved, relative to the feature mass, and "
        "the bounds on it.";
    shift.label = "True shift and its bounds at every snapshot";
    shift.x = {.name = "snapshot", .whole = true};
    shift.y = {.name = "shift / mass", .logarithmic = true};
    shift.series = {SeriesOf(measured.result, "relative_shift", "true", 0),
                    SeriesOf(measured.result, "sigma_relative", "relative bound", 1),
                    SeriesOf(measured.result, "sigma_strict", "strict bound", 2)};
    findings.charts.push_back(std::move(error));
    findings.charts.push_back(std::move(shift));
  }
  findings.tables = {std::move(table)};
  return findings;
}

}  // namespace coden
