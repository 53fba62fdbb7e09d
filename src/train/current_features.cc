#include "train/current_features_internal.h"

#include <algorithm>

#include "coden/base/error.h"

namespace coden {

CurrentFeatures::CurrentFeatures(RunInputs& inputs, const NamedTensor& mean,
                                 const NamedTensor& deviation)
    : inputs_(inputs),
      width_(mean.values.size()),
      mean_(mean.values),
      deviation_(deviation.values),
      rows_(static_cast<std::size_t>(inputs.nodes->size()) * width_, 0.0f) {}

arrow::Result<std::unique_ptr<CurrentFeatures>> CurrentFeatures::Make(
    RunInputs& inputs, const SavedModel& model) {
  const auto find = [&](const char* name) {
    return std::find_if(model.weights.begin(), model.weights.end(),
                        [&](const NamedTensor& tensor) { return tensor.name == name; });
  };
  const auto mean = find(kFeatureMean);
  const auto deviation = find(kFeatureDeviation);
  const auto width = static_cast<std::size_t>(model.config.features);
  if (mean == model.weights.end() || deviation == model.weights.end() ||
      mean->values.size() != width || deviation->values.size() != width) {
    return CorruptionError("the model is damaged: it reads ", width,
                           " features of a node, and does not say how; train it anew");
  }
  if (inputs.columns.size() != model.config.features) {
    return CorruptionError("the model reads ", model.config.features,
                           " features of a node, the run has ", inputs.columns.size(),
                           "; train it anew");
  }
  std::unique_ptr<CurrentFeatures> features(
      new CurrentFeatures(inputs, *mean, *deviation));
  ARROW_RETURN_NOT_OK(inputs.features.ForEach(
      *inputs.nodes,
      [&](NodeId node, std::span<const float> vector) { features->Set(node, vector); }));
  ARROW_ASSIGN_OR_RAISE(features->updates_, inputs.features.OpenUpdates(*inputs.nodes));
  return features;
}

arrow::Status CurrentFeatures::AdvanceTo(EventTime time) {
  return updates_.AdvanceTo(
      time, *inputs_.nodes,
      [this](NodeId node, std::span<const float> vector) { Set(node, vector); });
}

void CurrentFeatures::Set(NodeId node, std::span<const float> vector) {
  const auto slice = vector.subspan(inputs_.columns.begin, width_);
  std::copy(slice.begin(), slice.end(),
            rows_.begin() + static_cast<std::ptrdiff_t>(node * width_));
}

void CurrentFeatures::Copy(NodeId first, NodeId count, float* out) const {
  const float* from = rows_.data() + static_cast<std::size_t>(first) * width_;
  for (NodeId node = 0; node < count; ++node) {
    for (std::size_t i = 0; i < width_; ++i)
      *out++ = (*from++ - mean_[i]) / deviation_[i];
  }
}

}  // namespace coden
