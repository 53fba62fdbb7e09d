#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/settings/train_options.h"
#include "coden/store/run_store.h"
#include "train/trained_model_internal.h"
#include "train/training_input_internal.h"

namespace coden {

/// What a model is, besides its weights: config.json (docs/models.md).
struct ModelConfig {
  TrainOptions options;  ///< model, gate, averages, label columns, states, hidden, layers
  std::int64_t embedding = 0;  ///< channels of the embedding; 0: it does not read it
  std::int64_t features = 0;   ///< feature columns; 0: it does not read them
  std::shared_ptr<arrow::Array> classes;  ///< that it knows: those of its outputs
  int run = 0;                            ///< the training run that the weights are from
  std::uint64_t seed = 0;
  int prediction = 0;  ///< the last prediction time that it has learnt from
  int best_epoch = 0;
  double validate_micro_f1 = 0.0;

  int num_classes() const { return static_cast<int>(classes->length()); }
  /// Channels of each group at every snapshot (NetworkShape).
  std::vector<std::int64_t> ChannelGroups() const;
  /// The channel that the scores start from (NetworkShape).
  std::int64_t StartChannel() const;
};

/// The config of the model that training keeps. Label columns are said in full, also
/// where they follow from other settings.
arrow::Result<ModelConfig> DescribeModel(const TrainingInput& input,
                                         const Settings& settings,
                                         const TrainedModel& model, int run,
                                         std::uint64_t seed);

std::string ToJson(const ModelConfig& config);

/// Read it back; anything else is corruption of the file `shown`.
arrow::Result<ModelConfig> ModelConfigFromJson(const std::string& text,
                                               const std::string& shown);

/// The classes as a JSON array of numbers or strings.
std::string ClassesToText(const arrow::Array& classes);

/// Beside the weights: how the feature columns were standardised.
inline constexpr const char* kFeatureMean = "features.mean";
inline constexpr const char* kFeatureDeviation = "features.deviation";

/// A model as it is in a run's folder.
struct SavedModel {
  ModelConfig config;
  std::vector<NamedTensor> weights;  ///< and features.mean, features.deviation
};
arrow::Result<SavedModel> LoadModel(const RunStore& store);

}  // namespace coden
