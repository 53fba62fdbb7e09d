#pragma once

#include <cmath>
#include <span>

namespace coden {

/// Write a row of a snapshot as every model reads it, scaled to length 1 (L2), to `out`;
/// a row of zeros stays one. Returns whether all its numbers are finite.
inline bool CopyNormalised(std::span<const float> row, float* out) {
  double square_sum = 0.0;
  for (const double value : row) square_sum += value * value;
  const double scale = square_sum > 0.0 ? 1.0 / std::sqrt(square_sum) : 0.0;
  for (const float value : row) *out++ = static_cast<float>(value * scale);
  return std::isfinite(square_sum);
}

}  // namespace coden
