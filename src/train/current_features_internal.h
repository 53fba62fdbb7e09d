#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "coden/state/run_inputs.h"
#include "train/model_files_internal.h"

namespace coden {

/// The feature vectors of all nodes of a run, as they are in force at a time that goes
/// forward, and as a model reads them.
class CurrentFeatures {
 public:
  /// Start before any update. `inputs` must outlive it.
  static arrow::Result<std::unique_ptr<CurrentFeatures>> Make(RunInputs& inputs,
                                                              const SavedModel& model);

  /// Let the updates at or before `time` be in force.
  arrow::Status AdvanceTo(EventTime time);

  /// Write the standardised rows of nodes [first, first + count). From any thread.
  void Copy(NodeId first, NodeId count, float* out) const;

 private:
  CurrentFeatures(RunInputs& inputs, const NamedTensor& mean,
                  const NamedTensor& deviation);

  void Set(NodeId node, std::span<const float> vector);

  RunInputs& inputs_;
  std::size_t width_;
  std::vector<float> mean_;
  std::vector<float> deviation_;
  std::vector<float> rows_;  // [nodes, width]
  NodeFeatures::Updates updates_;
};

}  // namespace coden
