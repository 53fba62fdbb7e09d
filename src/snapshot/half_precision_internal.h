#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <arrow/array.h>
#include <arrow/result.h>

namespace coden {

/// The largest number that float16 can hold.
inline constexpr float kLargestHalf = 65504.0f;

/// Round every number to the nearest one that float16 can hold and write it to `out`. The
/// numbers lie row by row, with `loss.size()` in a row; what rounding changes is added to
/// `loss`, column by column, in absolute value. Returns how many numbers were done: all
/// of them, or those before the first one above kLargestHalf.
std::int64_t RoundToHalf(std::span<const float> numbers, std::span<double> loss,
                         float* out);

/// The same numbers as float16, which must be able to hold them.
arrow::Result<std::shared_ptr<arrow::HalfFloatArray>> AsHalf(
    const arrow::FloatArray& numbers);

}  // namespace coden
