// Soft orthogonality of the classifier's layers: ||W^T W - gamma^2 I||_F^2 for each.
//
// Returns nothing; adds the gradient, which is 4 W (W^T W - gamma^2 I). It keeps a layer
// from shrinking differences between nodes: gamma = c F^(-1/(2T)) with c > 1 is the least
// scale at which the Dirichlet energy of T steps of width F does not fall below its
// start.
//
//   F   inputs of the layer   T   prediction times   c   kScale
//
// W^T W cannot be a multiple of I where a layer has more inputs than outputs; its product
// on the shorter side can, and has the same non-zero eigenvalues, so that one is used.

#include "train/orthogonality_internal.h"

#include <cmath>

namespace coden {

namespace {

constexpr double kScale = 1.1;

}  // namespace

void AddOrthogonality(const std::vector<torch::Tensor>& weights, double strength,
                      std::int64_t num_predictions) {
  torch::NoGradGuard no_gradients;
  for (const torch::Tensor& weight : weights) {
    const auto inputs = static_cast<double>(weight.size(1));
    const double gamma =
        kScale * std::pow(inputs, -0.5 / static_cast<double>(num_predictions));
    const bool wide = weight.size(1) > weight.size(0);
    const torch::Tensor product =
        wide ? torch::mm(weight, weight.t()) : torch::mm(weight.t(), weight);
    const torch::Tensor excess = product - gamma * gamma * torch::eye(product.size(0));
    const torch::Tensor gradient =
        wide ? torch::mm(excess, weight) : torch::mm(weight, excess);
    weight.mutable_grad().add_(gradient, 4.0 * strength);
  }
}

}  // namespace coden
