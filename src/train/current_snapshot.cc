// coden-s: the features of a node at a prediction time are its embedding of that moment.
//
// Returns H at the snapshots of the prediction times and learns nothing. It is the model
// without its temporal part, so what `coden` gains over it is what history is worth.

#include "train/temporal_model_internal.h"

namespace coden {

namespace {

class CurrentSnapshot : public TemporalModel {
 public:
  explicit CurrentSnapshot(const TemporalShape& shape)
      : snapshots_(torch::tensor(shape.prediction_snapshots, torch::kInt64)) {}

  torch::Tensor Forward(const torch::Tensor& history) override {
    return history.index_select(/*dim=*/2, snapshots_).transpose(1, 2);
  }

 private:
  torch::Tensor snapshots_;
};

}  // namespace

std::shared_ptr<TemporalModel> MakeCurrentSnapshot(const TemporalShape& shape) {
  return std::make_shared<CurrentSnapshot>(shape);
}

}  // namespace coden
