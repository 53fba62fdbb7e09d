#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/trainer_internal.h"

namespace coden {

/// Scores of one prediction time; the columns of metrics.parquet after `run`.
struct PredictionMetrics {
  int prediction = 0;
  EventTime time = 0;
  std::int64_t test_nodes = 0;
  std::int64_t absent_nodes = 0;
  double micro_f1 = 0.0;
  double micro_f1_all = 0.0;
  double macro_f1 = 0.0;
  double validate_micro_f1 = 0.0;
  double loss = 0.0;
  double majority_micro_f1 = 0.0;  ///< of the controls (controls.cc)
  double propagation_micro_f1 = std::numeric_limits<double>::quiet_NaN();
  std::optional<double> last_label_micro_f1 = {};  ///< where labels have times
  std::string best_control = {};                   ///< of the whole training (AddGains)
  double gain = std::numeric_limits<double>::quiet_NaN();  ///< of micro_f1 over it
  std::optional<double> dirichlet_energy = {};             ///< where it was measured
  std::optional<double> relative_energy = {};
};

/// Score a model at every prediction time that it predicts. Scores over no nodes are NaN.
/// The macro mean is over the classes that occur as a label among the test nodes; a class
/// that is only predicted counts through the nodes it was taken from.
std::vector<PredictionMetrics> ScorePredictions(const TrainingData& data,
                                                std::span<const Part> split,
                                                const PairScores& scores);

/// Return the mean test Micro-F1 over the prediction times that have test nodes; NaN if
/// none has.
double AverageMicroF1(std::span<const PredictionMetrics> metrics);

}  // namespace coden
