#pragma once

#include <torch/torch.h>

#include "train/temporal_model_internal.h"

namespace coden {

/// Convolve every channel of `history` [nodes, channels, snapshots] with its own row of
/// `kernel` [channels, lags], which has a lag for every snapshot up to the last of `at`,
/// and return the result at the snapshots `at`: [nodes, times, channels].
///
/// The kernel is laid out as a lower-triangular matrix per channel, one row per time (row
/// k holds kernel[f, s_k - s] at s <= s_k), and all channels are multiplied in one
/// batched product [F, nodes, S] x [F, S, K]. A recurrence would touch as many numbers in
/// S dependent steps and keep its states for the gradient; here there are none.
torch::Tensor ConvolveSnapshots(const torch::Tensor& history, const torch::Tensor& kernel,
                                SnapshotList at);

/// Return kernel[..., s_k - s] as [..., snapshots, times], zeros at s > s_k. There are as
/// many snapshots as lags.
torch::Tensor KernelMatrix(const torch::Tensor& kernel, SnapshotList at);

/// Kernels have a few numbers per channel and start where they change nothing. At the
/// classifier's rate they still move when it is done: on the quickstart ten times that
/// gave 85.6 in 57 epochs instead of 84.9 in 100.
inline constexpr double kKernelRateScale = 10.0;

/// Return parameters p with softplus(p) log-uniform in [shortest, longest].
torch::Tensor DrawSteps(std::int64_t num_channels, double shortest, double longest);

}  // namespace coden
