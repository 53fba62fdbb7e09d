#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/settings/settings.h"
#include "coden/store/run_store.h"
#include "train/metrics_internal.h"
#include "train/node_split_internal.h"
#include "train/training_input_internal.h"

namespace coden {

/// What simple methods predict for every pair of a node and a prediction time, [nodes,
/// predictions]: the results that a model has to beat.
struct Controls {
  std::vector<std::int32_t> majority;
  std::vector<std::int32_t> propagation;  ///< empty where there is no log
  std::vector<std::int32_t> last_label;   ///< empty where labels have no times
};

/// By prediction time, the class that most training nodes have then; of equal ones the
/// first. Counts nodes that are present, or all where none is.
std::vector<std::int32_t> MajorityClasses(const TrainingData& data,
                                          std::span<const Part> split);

/// Predict that a node keeps its last known label: the one it had at the prediction time
/// before and, for the first prediction time, at `input.before_first`. Never a label that
/// became valid in the interval that is predicted. `otherwise` (by prediction time) where
/// it had none.
std::vector<std::int32_t> LastLabels(const TrainingInput& input,
                                     std::span<const std::int32_t> otherwise);

/// Find what the controls predict for the nodes that are not trained on. Label
/// propagation sends the one-hot training labels through the embedding engine at
/// `embed.alpha`; a node takes the class that reaches it most, or the majority class
/// where none does.
arrow::Result<Controls> MakeControls(const Settings& settings, const RunStore& store,
                                     const TrainingInput& input,
                                     std::span<const Part> split,
                                     const RunContext& context);

/// Fill in the controls' scores of `metrics`, over the same test nodes as the model's.
void ScoreControls(const TrainingData& data, std::span<const Part> split,
                   const Controls& controls, std::vector<PredictionMetrics>& metrics);

/// Fill in, for all runs of a training, the control with the highest average and the gain
/// over it. Averages are those of the results table: over the runs, then over the
/// prediction times.
void AddGains(std::vector<std::vector<PredictionMetrics>>& runs);

/// Where there are controls that the model of some runs is not above by more than the
/// spread, one sentence that names all of them, best first, and what `settings` leave to
/// try; nothing otherwise. The spread is the standard deviation of the gain over the runs
/// or, of a single one, the standard error of a share of its test nodes.
std::optional<std::string> CompareWithControls(
    const Settings& settings, std::span<const std::vector<PredictionMetrics>> runs);

}  // namespace coden
