#include "train/adam_memory_internal.h"

namespace coden {

namespace {

NamedTensor Named(const std::string& name, const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().contiguous();
  const float* first = values.const_data_ptr<float>();
  return {name, values.sizes().vec(), std::vector<float>(first, first + values.numel())};
}

torch::Tensor Find(const std::vector<NamedTensor>& tensors, const std::string& name,
                   const torch::Tensor& like) {
  for (const NamedTensor& tensor : tensors) {
    if (tensor.name != name || tensor.shape != like.sizes().vec()) continue;
    return torch::from_blob(const_cast<float*>(tensor.values.data()), tensor.shape)
        .clone();
  }
  return torch::zeros_like(like);
}

}  // namespace

void SaveAdam(const torch::optim::AdamW& optimizer, const Network& network,
              TrainerMemory& memory) {
  memory.first_moments.clear();
  memory.second_moments.clear();
  for (const auto& parameter : network.named_parameters()) {
    const auto found = optimizer.state().find(parameter.value().unsafeGetTensorImpl());
    if (found == optimizer.state().end()) continue;
    const auto& state = static_cast<const torch::optim::AdamWParamState&>(*found->second);
    memory.first_moments.push_back(Named(parameter.key(), state.exp_avg()));
    memory.second_moments.push_back(Named(parameter.key(), state.exp_avg_sq()));
  }
}

void RestoreAdam(const TrainerMemory& memory, const Network& network,
                 torch::optim::AdamW& optimizer) {
  for (const auto& parameter : network.named_parameters()) {
    auto state = std::make_unique<torch::optim::AdamWParamState>();
    state->step(memory.num_steps);
    state->exp_avg(Find(memory.first_moments, parameter.key(), parameter.value()));
    state->exp_avg_sq(Find(memory.second_moments, parameter.key(), parameter.value()));
    optimizer.state()[parameter.value().unsafeGetTensorImpl()] = std::move(state);
  }
}

}  // namespace coden
