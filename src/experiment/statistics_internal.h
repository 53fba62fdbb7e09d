#pragma once

#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "experiment/trial_internal.h"

namespace coden {

/// Mean and deviation of some values, of which those that are not finite count nowhere.
struct Spread {
  double mean = std::numeric_limits<double>::quiet_NaN();
  /// Of a sample; NaN with fewer than two values.
  double deviation = std::numeric_limits<double>::quiet_NaN();

  double low() const;
  double high() const;
};
Spread SpreadOf(std::vector<double> values);
double MeanOf(const std::vector<double>& values);
double Largest(const std::vector<double>& values);
double Smallest(const std::vector<double>& values);

/// Apply `over_times` to the values that each training run has at its prediction times,
/// and spread the results over the runs.
Spread OverRuns(const TrialResult& result, std::string_view quantity,
                const std::function<double(const std::vector<double>&)>& over_times);

/// The values of one prediction time, by run.
struct AtTime {
  int prediction = 0;
  EventTime time = 0;
  std::vector<double> values;
};
/// In order of time.
std::vector<AtTime> OverTime(const TrialResult& result, std::string_view quantity);

}  // namespace coden
