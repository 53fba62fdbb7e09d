#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/report/results_table.h"

namespace coden {

/// Scores of one prediction time, means over the runs. NaN where no run has a value.
struct PredictionScore {
  std::int64_t prediction = 0;
  std::int64_t time = 0;
  std::int64_t test_nodes = 0;
  double micro_f1 = 0.0;
  double micro_f1_deviation = 0.0;  ///< NaN with fewer than two runs
  double macro_f1 = 0.0;
  double micro_f1_all = 0.0;
  double majority = 0.0;  ///< Micro-F1 of the controls
  double propagation = 0.0;
  double last_label = 0.0;  ///< NaN where labels have no times
};

/// What a model is held against: the control with the highest average.
struct BestControl {
  std::string name;
  double PredictionScore::* score = nullptr;
};

struct MicroF1Summary {
  std::size_t num_runs = 0;
  std::vector<PredictionScore> scores;  ///< in order of prediction time
  PredictionScore average;              ///< over `scores`
  std::optional<std::size_t> last;      ///< index of the last score that is finite
  BestControl control;

  /// How far a score is above the best control.
  double Gain(const PredictionScore& score) const {
    return score.micro_f1 - score.*control.score;
  }
};

arrow::Result<MicroF1Summary> SummarizeMicroF1(const arrow::Table& metrics);

/// `facts` say what the scores are of (TrainingFacts); they are a second line of the
/// title.
ResultsTable MicroF1Table(const MicroF1Summary& summary, const std::string& facts);

}  // namespace coden
