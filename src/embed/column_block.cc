#include "embed/column_block_internal.h"

#include <algorithm>

namespace coden {

ColumnBlock::ColumnBlock(std::vector<int> columns, Precision precision)
    : columns_(std::move(columns)),
      width_(WidthFor(static_cast<int>(columns_.size()))),
      precision_(precision),
      bounds_(width_, 0.0) {}

void ColumnBlock::Grow(Row num_rows) {
  const auto numbers = static_cast<std::size_t>(num_rows) * width_;
  x_.Grow(numbers * sizeof(float));
  g_.Grow(numbers * (precision_ == Precision::kFloat ? sizeof(float) : sizeof(double)));
}

void ColumnBlock::FreeIfEmpty() {
  if (!empty()) return;
  x_ = RowBuffer();
  g_ = RowBuffer();
}

void ColumnBlock::SwapRows(Row a, Row b) {
  if (a == b) return;
  // Only x: rows trade places before either has a g that counts.
  float* first = x() + static_cast<std::size_t>(a) * width_;
  std::swap_ranges(first, first + width_, x() + static_cast<std::size_t>(b) * width_);
}

}  // namespace coden
