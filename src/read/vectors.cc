#include "read/vectors_internal.h"

#include <cmath>
#include <limits>

#include <arrow/array.h>
#include <arrow/compute/api.h>
#include <arrow/type.h>

namespace coden {

namespace {

constexpr std::string_view kNoNull =
    "a vector must not be null; remove the row, or give zeros";
constexpr std::string_view kNoNullEntry = "a vector must not hold a null; give a number";
constexpr std::string_view kNotEmpty = "a vector must not be empty";
constexpr std::string_view kOneLength = "every vector must have the same length";
constexpr std::string_view kFeatureLength =
    "a new vector must have the length of the features";
constexpr std::string_view kFinite =
    "a feature must be finite as a 32-bit number; replace NaN, infinity and numbers "
    "beyond 3.4e38";

arrow::Status CheckLength(std::int64_t length, std::int64_t row, VectorWidth* width,
                          const ColumnPlace& place) {
  if (length == 0) return place.Report(row, kNotEmpty);
  if (width->width < 0 && length <= std::numeric_limits<int>::max()) {
    width->width = static_cast<int>(length);
  }
  if (length == width->width) return arrow::Status::OK();
  return place.Report(row, width->of_features ? kFeatureLength : kOneLength,
                      std::to_string(length) + " here, " + std::to_string(width->width) +
                          (width->of_features ? " there" : " before"));
}

arrow::Status CheckEntries(const arrow::FloatArray& numbers, std::int64_t begin,
                           std::int64_t end, std::int64_t row, const ColumnPlace& place) {
  for (std::int64_t i = begin; i < end; ++i) {
    if (numbers.IsNull(i)) return place.Report(row, kNoNullEntry);
    if (!std::isfinite(numbers.Value(i))) {
      return place.Report(row, kFinite, std::to_string(numbers.Value(i)));
    }
  }
  return arrow::Status::OK();
}

template <typename ListArray>
arrow::Result<std::shared_ptr<arrow::FloatArray>> ReadLists(const ListArray& lists,
                                                            VectorWidth* width,
                                                            const ColumnPlace& place) {
  const std::int64_t rows = lists.length();
  const std::int64_t begin = rows == 0 ? 0 : lists.value_offset(0);
  const std::int64_t end = rows == 0 ? 0 : lists.value_offset(rows);
  ARROW_ASSIGN_OR_RAISE(
      const auto cast,
      arrow::compute::Cast(*lists.values()->Slice(begin, end - begin), arrow::float32(),
                           arrow::compute::CastOptions::Unsafe(arrow::float32())));
  auto numbers = std::static_pointer_cast<arrow::FloatArray>(cast);
  for (std::int64_t row = 0; row < rows; ++row) {
    if (lists.IsNull(row)) {
      ARROW_RETURN_NOT_OK(place.Report(row, kNoNull));
      continue;
    }
    const std::int64_t length = lists.value_length(row);
    const std::int64_t first = lists.value_offset(row) - begin;
    const int expected = width->width;
    ARROW_RETURN_NOT_OK(CheckLength(length, row, width, place));
    if (length == 0 || (expected >= 0 && length != expected)) continue;
    ARROW_RETURN_NOT_OK(CheckEntries(*numbers, first, first + length, row, place));
  }
  return numbers;
}

}  // namespace

bool IsVectorType(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::LIST_VIEW:
    case arrow::Type::LARGE_LIST_VIEW:
    case arrow::Type::FIXED_SIZE_LIST:
      return arrow::is_floating(type.field(0)->type()->id()) ||
             arrow::is_integer(type.field(0)->type()->id());
    default:
      return false;
  }
}

arrow::Result<std::shared_ptr<arrow::FloatArray>> ReadVectors(const arrow::Array& array,
                                                              VectorWidth* width,
                                                              const ColumnPlace& place) {
  switch (array.type_id()) {
    case arrow::Type::LIST_VIEW:
    case arrow::Type::LARGE_LIST_VIEW: {
      // Views may overlap and stand in any order.
      ARROW_ASSIGN_OR_RAISE(
          const auto lists,
          arrow::compute::Cast(array, arrow::large_list(array.type()->field(0))));
      return ReadVectors(*lists, width, place);
    }
    case arrow::Type::LIST:
      return ReadLists(static_cast<const arrow::ListArray&>(array), width, place);
    case arrow::Type::LARGE_LIST:
      return ReadLists(static_cast<const arrow::LargeListArray&>(array), width, place);
    default:
      return ReadLists(static_cast<const arrow::FixedSizeListArray&>(array), width,
                       place);
  }
}

}  // namespace coden
