#include "experiment/statistics_internal.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace coden {

namespace {

std::vector<double> FiniteOf(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

}  // namespace

double Spread::low() const { return std::isfinite(deviation) ? mean - deviation : mean; }

double Spread::high() const { return std::isfinite(deviation) ? mean + deviation : mean; }

Spread SpreadOf(std::vector<double> all) {
  const std::vector<double> values = FiniteOf(std::move(all));
  Spread spread;
  if (values.empty()) return spread;
  const auto count = static_cast<double>(values.size());
  spread.mean = 0.0;
  for (const double value : values) spread.mean += value / count;
  if (values.size() < 2) return spread;
  double squares = 0.0;
  for (const double value : values)
    squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1.0));
  return spread;
}

double MeanOf(const std::vector<double>& values) { return SpreadOf(values).mean; }

double Largest(const std::vector<double>& all) {
  const std::vector<double> values = FiniteOf(all);
  return values.empty() ? NAN : *std::max_element(values.begin(), values.end());
}

double Smallest(const std::vector<double>& all) {
  const std::vector<double> values = FiniteOf(all);
  return values.empty() ? NAN : *std::min_element(values.begin(), values.end());
}

Spread OverRuns(const TrialResult& result, std::string_view quantity,
                const std::function<double(const std::vector<double>&)>& over_times) {
  std::map<int, std::vector<double>> runs;
  for (const Measurement& one : result.measurements) {
    if (one.quantity == quantity) runs[one.run].push_back(one.value);
  }
  std::vector<double> values;
  values.reserve(runs.size());
  for (const auto& [run, over] : runs) values.push_back(over_times(over));
  return SpreadOf(std::move(values));
}

std::vector<AtTime> OverTime(const TrialResult& result, std::string_view quantity) {
  std::map<int, AtTime> times;
  for (const Measurement& one : result.measurements) {
    if (one.quantity != quantity) continue;
    AtTime& at = times.try_emplace(one.prediction, AtTime{one.prediction, one.time, {}})
                     .first->second;
    at.values.push_back(one.value);
  }
  std::vector<AtTime> all;
  all.reserve(times.size());
  for (auto& [prediction, at] : times) all.push_back(std::move(at));
  return all;
}

}  // namespace coden
