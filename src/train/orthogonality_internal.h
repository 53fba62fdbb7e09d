#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

namespace coden {

/// Add to the gradients of `weights` that of `strength` * sum ||W W^T - gamma^2 I||_F^2,
/// the paper's soft-orthogonality regulariser (orthogonality.cc).
void AddOrthogonality(const std::vector<torch::Tensor>& weights, double strength,
                      std::int64_t num_predictions);

}  // namespace coden
