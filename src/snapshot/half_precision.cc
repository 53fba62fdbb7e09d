#include "snapshot/half_precision_internal.h"

#include <cmath>

#include <arrow/buffer.h>
#include <arrow/util/float16.h>

namespace coden {

using arrow::util::Float16;

std::int64_t RoundToHalf(std::span<const float> numbers, std::span<double> loss,
                         float* out) {
  std::size_t column = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const float number = numbers[i];
    if (!(std::abs(number) <= kLargestHalf)) return static_cast<std::int64_t>(i);
    const float rounded = Float16::FromFloat(number).ToFloat();
    loss[column] += std::abs(double{number} - rounded);
    if (++column == loss.size()) column = 0;
    out[i] = rounded;
  }
  return static_cast<std::int64_t>(numbers.size());
}

arrow::Result<std::shared_ptr<arrow::HalfFloatArray>> AsHalf(
    const arrow::FloatArray& numbers) {
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> halves,
      arrow::AllocateBuffer(numbers.length() * std::int64_t{sizeof(std::uint16_t)}));
  auto* out = reinterpret_cast<std::uint16_t*>(halves->mutable_data());
  for (std::int64_t i = 0; i < numbers.length(); ++i)
    out[i] = Float16::FromFloat(numbers.Value(i)).bits();
  return std::make_shared<arrow::HalfFloatArray>(numbers.length(), std::move(halves));
}

}  // namespace coden
