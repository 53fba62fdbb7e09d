#include <cmath>
#include <limits>
#include <string_view>

#include <arrow/array.h>
#include <arrow/compute/api.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "read/columns_internal.h"

namespace coden {

namespace {

constexpr std::string_view kNoNull = "a null is not allowed here; fill or remove the row";
constexpr std::string_view kTooLarge =
    "a whole number must be below 2^63; rescale a time, give an id as a string";
constexpr std::string_view kNotWhole =
    "a decimal must be a whole number below 2^63; rescale a time, give an id as a string";
constexpr std::string_view kClassNotWhole =
    "a label must be a class: a whole number, a string or a bool; this version does not "
    "estimate values";
// Up to here every whole number is a floating point number.
constexpr double kLargestClass = 9007199254740992.0;
constexpr std::string_view kNegativeTime =
    "a time must not be negative; shift the times of all inputs";
constexpr std::string_view kFallingTime =
    "times must not fall from row to row; sort the file by time";
constexpr std::string_view kOpValue = "an op must be 1 or insert, -1 or delete";
constexpr std::string_view kNodeTwice = "a node must not have two rows; keep one";
constexpr std::string_view kLabelTwice =
    "a node must not have two labels for one time; keep one";

arrow::Status CheckNoNulls(const arrow::Array& array, const ColumnPlace& place) {
  if (array.null_count() == 0) return arrow::Status::OK();
  for (std::int64_t row = 0; row < array.length(); ++row) {
    if (array.IsNull(row)) ARROW_RETURN_NOT_OK(place.Report(row, kNoNull));
  }
  return arrow::Status::OK();
}

arrow::Status CheckFitsInt64(const arrow::UInt64Array& values, const ColumnPlace& place) {
  for (std::int64_t row = 0; row < values.length(); ++row) {
    if (values.IsNull(row)) continue;
    if (values.Value(row) > std::numeric_limits<std::int64_t>::max()) {
      ARROW_RETURN_NOT_OK(
          place.Report(row, kTooLarge, std::to_string(values.Value(row))));
    }
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Array>> DecimalsToInt64(const arrow::Array& values,
                                                             const ColumnPlace& place) {
  if (values.type_id() == arrow::Type::DECIMAL32) {
    // Arrow holds the limits of int64 against 32 bits and refuses every value.
    const auto& type = static_cast<const arrow::DecimalType&>(*values.type());
    ARROW_ASSIGN_OR_RAISE(
        const auto wide,
        arrow::compute::Cast(values, arrow::decimal128(type.precision(), type.scale())));
    return DecimalsToInt64(*wide, place);
  }
  const auto safe = arrow::compute::CastOptions::Safe(arrow::int64());
  auto whole = arrow::compute::Cast(values, arrow::int64(), safe);
  if (whole.ok()) return whole;
  for (std::int64_t row = 0; row < values.length(); ++row) {
    if (arrow::compute::Cast(*values.Slice(row, 1), arrow::int64(), safe).ok()) continue;
    ARROW_ASSIGN_OR_RAISE(const auto value, values.GetScalar(row));
    ARROW_RETURN_NOT_OK(place.Report(row, kNotWhole, value->ToString()));
  }
  return arrow::compute::Cast(values, arrow::int64(),
                              arrow::compute::CastOptions::Unsafe(arrow::int64()));
}

// A dictionary is decoded first, because a null may hide among its values.
arrow::Result<std::shared_ptr<arrow::Array>> Decode(
    const std::shared_ptr<arrow::Array>& array) {
  if (array->type_id() != arrow::Type::DICTIONARY) return array;
  const auto& dictionary = static_cast<const arrow::DictionaryArray&>(*array);
  ARROW_ASSIGN_OR_RAISE(const auto values, arrow::compute::Take(dictionary.dictionary(),
                                                                dictionary.indices()));
  return values.make_array();
}

arrow::Result<std::shared_ptr<arrow::Array>> CastTo(
    const std::shared_ptr<arrow::Array>& encoded,
    const std::shared_ptr<arrow::DataType>& type, const ColumnPlace& place) {
  ARROW_ASSIGN_OR_RAISE(auto array, Decode(encoded));
  ARROW_RETURN_NOT_OK(CheckNoNulls(*array, place));
  if (arrow::is_decimal(array->type_id())) {
    ARROW_ASSIGN_OR_RAISE(array, DecimalsToInt64(*array, place));
  }
  if (array->type()->Equals(*type)) return array;
  auto options = arrow::compute::CastOptions::Safe(type);
  if (array->type_id() == arrow::Type::UINT64) {
    ARROW_RETURN_NOT_OK(
        CheckFitsInt64(static_cast<const arrow::UInt64Array&>(*array), place));
    options.allow_int_overflow = true;
  }
  auto cast = arrow::compute::Cast(*array, type, options);
  if (!cast.ok()) {
    return WithFault(cast.status(), Fault::kInput,
                     "cannot read column '" + std::string(place.column) + "' as " +
                         type->ToString() + ": ");
  }
  return cast;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Array>> ReadIds(
    const std::shared_ptr<arrow::Array>& array,
    const std::shared_ptr<arrow::DataType>& id_type, const ColumnPlace& place) {
  return CastTo(array, id_type, place);
}

bool IsClassType(const arrow::DataType& type) {
  return NodeIdMap::IdType(type).ok() || type.id() == arrow::Type::BOOL ||
         arrow::is_floating(type.id());
}

arrow::Result<std::shared_ptr<arrow::Array>> ReadClasses(
    const std::shared_ptr<arrow::Array>& array,
    const std::shared_ptr<arrow::DataType>& id_type, const ColumnPlace& place) {
  if (!arrow::is_floating(array->type_id())) return CastTo(array, id_type, place);
  ARROW_RETURN_NOT_OK(CheckNoNulls(*array, place));
  ARROW_ASSIGN_OR_RAISE(const auto wide, arrow::compute::Cast(*array, arrow::float64()));
  const auto& values = static_cast<const arrow::DoubleArray&>(*wide);
  for (std::int64_t row = 0; row < values.length(); ++row) {
    const double value = values.Value(row);
    const bool whole = std::trunc(value) == value && std::abs(value) <= kLargestClass;
    if (values.IsValid(row) && !whole)
      ARROW_RETURN_NOT_OK(place.Report(row, kClassNotWhole, FormatShortest(value)));
  }
  return arrow::compute::Cast(*wide, arrow::int64(),
                              arrow::compute::CastOptions::Unsafe(arrow::int64()));
}

arrow::Result<std::shared_ptr<arrow::Int64Array>> ReadTimes(
    const std::shared_ptr<arrow::Array>& array, const ColumnPlace& place) {
  std::shared_ptr<arrow::Array> whole = array;
  if (array->type_id() == arrow::Type::DATE32) {
    // Arrow casts days to 32 bits only.
    ARROW_ASSIGN_OR_RAISE(whole, array->View(arrow::int32()));
  }
  ARROW_ASSIGN_OR_RAISE(whole, CastTo(whole, arrow::int64(), place));
  auto times = std::static_pointer_cast<arrow::Int64Array>(whole);
  for (std::int64_t row = 0; row < times->length(); ++row) {
    if (times->Value(row) < 0 && times->IsValid(row)) {
      ARROW_RETURN_NOT_OK(
          place.Report(row, kNegativeTime, std::to_string(times->Value(row))));
    }
  }
  return times;
}

arrow::Result<std::vector<bool>> ReadOps(const std::shared_ptr<arrow::Array>& array,
                                         const ColumnPlace& place) {
  std::vector<bool> inserts(array->length());
  if (array->type_id() == arrow::Type::BOOL) {
    ARROW_RETURN_NOT_OK(CheckNoNulls(*array, place));
    const auto& values = static_cast<const arrow::BooleanArray&>(*array);
    for (std::int64_t row = 0; row < array->length(); ++row)
      inserts[row] = values.Value(row);
    return inserts;
  }
  // Integers and strings are both compared as text, so one rule serves all types.
  ARROW_ASSIGN_OR_RAISE(const auto text, CastTo(array, arrow::utf8(), place));
  const auto& values = static_cast<const arrow::StringArray&>(*text);
  for (std::int64_t row = 0; row < array->length(); ++row) {
    if (values.IsNull(row)) continue;
    const std::string_view value = values.GetView(row);
    if (value == "1" || value == "insert") {
      inserts[row] = true;
    } else if (value != "-1" && value != "delete") {
      ARROW_RETURN_NOT_OK(place.Report(row, kOpValue, "'" + std::string(value) + "'"));
    }
  }
  return inserts;
}

arrow::Status RisingTimes::Check(const arrow::Int64Array& times,
                                 const ColumnPlace& place) {
  for (std::int64_t row = 0; row < times.length(); ++row) {
    const EventTime time = times.Value(row);
    if (time < 0 || times.IsNull(row)) continue;
    if (time < last_) {
      ARROW_RETURN_NOT_OK(place.Report(
          row, kFallingTime, std::to_string(time) + " after " + std::to_string(last_)));
    }
    last_ = time;
  }
  return arrow::Status::OK();
}

arrow::Status OneRowPerNode::Check(std::span<const NodeId> rows, const NodeIdMap& nodes,
                                   const ColumnPlace& place) {
  seen_.resize(nodes.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row] == kNoNode) continue;
    if (seen_[rows[row]]) {
      ARROW_RETURN_NOT_OK(place.Report(static_cast<std::int64_t>(row), kNodeTwice,
                                       nodes.Show(rows[row])));
    }
    seen_[rows[row]] = true;
  }
  return arrow::Status::OK();
}

std::size_t OneLabelPerTime::Hash::operator()(
    const std::pair<NodeId, EventTime>& key) const {
  auto bits = static_cast<std::uint64_t>(key.first) * 0x9e3779b97f4a7c15ull ^
              static_cast<std::uint64_t>(key.second);
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  return bits ^ (bits >> 31);
}

arrow::Status OneLabelPerTime::Check(NodeId node, EventTime time, std::int64_t row,
                                     const NodeIdMap& nodes, const ColumnPlace& place) {
  if (seen_.emplace(node, time).second) return arrow::Status::OK();
  return place.Report(row, kLabelTwice, nodes.Show(node));
}

}  // namespace coden
