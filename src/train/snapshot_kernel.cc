#include "train/snapshot_kernel_internal.h"

#include <cmath>
#include <vector>

namespace coden {

torch::Tensor KernelMatrix(const torch::Tensor& kernel, SnapshotList at) {
  // Latest lag last, then zeros: a window of this is one row of the triangular matrix.
  const std::int64_t num_snapshots = kernel.size(-1);
  const torch::Tensor windows =
      torch::constant_pad_nd(kernel.flip(-1), /*pad=*/{0, num_snapshots});
  std::vector<torch::Tensor> rows;
  rows.reserve(at.size());
  for (const std::int64_t snapshot : at) {
    rows.push_back(windows.narrow(-1, num_snapshots - 1 - snapshot, num_snapshots));
  }
  return torch::stack(rows, /*dim=*/-2).transpose(-1, -2);
}

torch::Tensor DrawSteps(std::int64_t num_channels, double shortest, double longest) {
  const torch::Tensor delta =
      shortest * torch::exp(torch::rand({num_channels}) * std::log(longest / shortest));
  return torch::log(torch::expm1(delta));
}

torch::Tensor ConvolveSnapshots(const torch::Tensor& history, const torch::Tensor& kernel,
                                SnapshotList at) {
  const std::int64_t num_nodes = history.size(0);
  const std::int64_t num_channels = history.size(1);
  const std::int64_t num_used = at.back() + 1;
  const torch::Tensor matrix = KernelMatrix(kernel.narrow(1, 0, num_used), at);
  const torch::Tensor features =
      torch::bmm(history.narrow(2, 0, num_used).transpose(0, 1), matrix);
  // [F, nodes, K] -> [nodes, K, F], as a plain matrix transposition.
  return features.view({num_channels, -1})
      .t()
      .contiguous()
      .view({num_nodes, -1, num_channels});
}

}  // namespace coden
