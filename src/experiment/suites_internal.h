#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "coden/experiment/experiment.h"
#include "coden/report/chart.h"
#include "experiment/laboratory_internal.h"

namespace coden {

/// A trial and what came of it.
struct MeasuredTrial {
  Trial trial;
  TrialResult result;
};

/// What a suite has to say.
struct Findings {
  std::vector<ResultsTable> tables;
  std::vector<Chart> charts;
};

/// A suite: which trials there are, and what they tell.
struct Suite {
  SuiteName name;
  /// What the trials differ in, for tables and axes.
  std::string_view varied;
  arrow::Result<std::vector<Trial>> (*list)(const Settings& settings, Laboratory& lab,
                                            const RunContext& context);
  Findings (*find)(const Suite& suite, std::span<const MeasuredTrial> trials);
};

/// Every suite, in the order of the help text. A new one is a line here and, where it
/// says something new, a function each.
std::span<const Suite> AllSuiteKinds();

/// Micro-F1, time and memory of trials that were trained, one row each (findings.cc).
Findings FindAccuracy(const Suite& suite, std::span<const MeasuredTrial> trials);
/// The same against the number that was varied.
Findings FindSweep(const Suite& suite, std::span<const MeasuredTrial> trials);
Findings FindEnergy(const Suite& suite, std::span<const MeasuredTrial> trials);
Findings FindErrors(const Suite& suite, std::span<const MeasuredTrial> trials);
Findings FindScaling(const Suite& suite, std::span<const MeasuredTrial> trials);

/// The trials of `scaling` (scaling_trials.cc).
arrow::Result<std::vector<Trial>> ScalingTrials(const Settings& settings, Laboratory& lab,
                                                const RunContext& context);

/// The parts of `experiment.values`, or of `usual` where it is empty.
arrow::Result<std::vector<std::string>> ValuesOf(const Settings& settings,
                                                 std::string_view usual);
/// An error where values are given to a suite that takes none.
arrow::Status RefuseValues(const Settings& settings, std::string_view suite);

}  // namespace coden
