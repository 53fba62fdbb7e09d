// coden-s: the features of a node at a prediction time are its embedding of that moment.
//
// Returns H at the snapshots of the prediction times and learns nothing. It is the model
// without its temporal part, so what `coden` gains over it is what history is worth.

#include "train/temporal_model_internal.h"

namespace coden {

namespace {

class CurrentSnapshot : public TemporalModel {
 public:
  torch::Tensor Forward(const torch::Tensor& history, SnapshotList at,
                        const torch::Tensor&) const override {
    std::vector<torch::Tensor> rows;
    rows.reserve(at.size());
    for (const std::int64_t snapshot : at) rows.push_back(history.select(2, snapshot));
    return torch::stack(rows, /*dim=*/1);
  }

  torch::Tensor StartState(std::int64_t num_nodes) const override {
    return torch::empty({num_nodes, 0});
  }

  torch::Tensor Step(torch::Tensor&, const torch::Tensor& rows) const override {
    return rows;
  }
};

}  // namespace

std::shared_ptr<TemporalModel> MakeCurrentSnapshot() {
  return std::make_shared<CurrentSnapshot>();
}

}  // namespace coden
