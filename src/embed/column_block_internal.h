#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "embed/row_buffer_internal.h"
#include "embed/row_order_internal.h"

namespace coden {

/// The type that holds g. Features are float32 in any case.
enum class Precision { kFloat, kDouble };

/// A few feature columns of all rows: the features x, and g (propagation_internal.h) for
/// connected rows. Rows are padded to a width that the kernels have.
///
/// A column's numbers depend on that column, the graph and the order of calls alone: not
/// on the columns beside it. So any cut of columns into blocks gives the same bits.
class ColumnBlock {
 public:
  static constexpr int kMostColumns = 16;

  /// The narrowest width that holds so many columns.
  static int WidthFor(int num_columns) {
    return num_columns <= 4 ? 4 : num_columns <= 8 ? 8 : 16;
  }

  /// `columns` are the engine's numbers of the columns.
  ColumnBlock(std::vector<int> columns, Precision precision);

  int width() const { return width_; }
  Precision precision() const { return precision_; }
  /// By lane; a lane whose column has moved elsewhere has -1.
  std::span<const int> columns() const { return columns_; }
  bool holds(int lane) const {
    return lane < static_cast<int>(columns_.size()) && columns_[lane] >= 0;
  }
  void Release(int lane) { columns_[lane] = -1; }
  bool empty() const {
    return std::all_of(columns_.begin(), columns_.end(), [](int c) { return c < 0; });
  }
  /// Give the memory back once the last column has moved away.
  void FreeIfEmpty();

  void Grow(Row num_rows);
  void SwapRows(Row a, Row b);

  const float* x() const { return x_.as<float>(); }
  float* x() { return x_.as<float>(); }
  template <typename T>
  T* g() {
    return g_.as<T>();
  }
  template <typename T>
  const T* g() const {
    return g_.as<T>();
  }
  float Feature(Row row, int lane) const {
    return x()[static_cast<std::size_t>(row) * width_ + lane];
  }
  void SetFeature(Row row, int lane, float value) {
    x()[static_cast<std::size_t>(row) * width_ + lane] = value;
  }
  double Value(Row row, int lane) const {
    const std::size_t at = static_cast<std::size_t>(row) * width_ + lane;
    return precision_ == Precision::kFloat ? g_.as<float>()[at] : g_.as<double>()[at];
  }
  void SetValue(Row row, int lane, double value) {
    const std::size_t at = static_cast<std::size_t>(row) * width_ + lane;
    if (precision_ == Precision::kFloat) {
      g_.as<float>()[at] = static_cast<float>(value);
    } else {
      g_.as<double>()[at] = value;
    }
  }

  /// By lane: a proven bound on ||h - z||_1.
  std::vector<double>& bounds() { return bounds_; }
  const std::vector<double>& bounds() const { return bounds_; }

  /// Call `visit` with the block's number type and width as template arguments.
  template <typename Visit>
  auto Dispatch(Visit visit) const {
    const auto of = [&]<typename T>() {
      switch (width_) {
        case 4:
          return visit.template operator()<T, 4>();
        case 8:
          return visit.template operator()<T, 8>();
        default:
          return visit.template operator()<T, 16>();
      }
    };
    return precision_ == Precision::kFloat ? of.template operator()<float>()
                                           : of.template operator()<double>();
  }

 private:
  std::vector<int> columns_;
  int width_;
  Precision precision_;
  RowBuffer x_;
  RowBuffer g_;
  std::vector<double> bounds_;
};

}  // namespace coden
