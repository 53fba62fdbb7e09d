#pragma once

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/compute/api.h>

#include "bytes.h"
#include "check.h"

namespace coden::fuzz {

/// Types that a column of ids, times or ops may come in; the first ones are the usual.
inline std::vector<std::shared_ptr<arrow::DataType>> ColumnTypes() {
  using namespace arrow;
  return {int64(),
          utf8(),
          int32(),
          dictionary(int32(), utf8()),
          large_utf8(),
          uint64(),
          int8(),
          uint8(),
          int16(),
          uint16(),
          uint32(),
          timestamp(TimeUnit::SECOND),
          timestamp(TimeUnit::MILLI),
          timestamp(TimeUnit::MICRO, "UTC"),
          timestamp(TimeUnit::NANO),
          date32(),
          date64(),
          decimal128(10, 0),
          decimal128(20, 2),
          decimal32(5, 0),
          decimal256(40, 0),
          dictionary(int8(), int64()),
          utf8_view(),
          boolean(),
          float32(),
          float64(),
          float16(),
          binary(),
          fixed_size_binary(3),
          time64(TimeUnit::MICRO),
          duration(TimeUnit::SECOND),
          null(),
          list(int64()),
          struct_({field("a", int64())}),
          map(utf8(), int64())};
}

/// The number of the type that is nearest; negative ones stand for the upper half of
/// uint64.
inline std::int64_t Clamped(const arrow::DataType& type, std::int64_t number) {
  using arrow::Type;
  const auto clamp = [&](std::int64_t low, std::int64_t high) {
    return std::min(std::max(number, low), high);
  };
  switch (type.id()) {
    case Type::INT8:
      return clamp(INT8_MIN, INT8_MAX);
    case Type::UINT8:
      return clamp(0, UINT8_MAX);
    case Type::INT16:
      return clamp(INT16_MIN, INT16_MAX);
    case Type::UINT16:
      return clamp(0, UINT16_MAX);
    case Type::INT32:
    case Type::DATE32:
      return clamp(INT32_MIN, INT32_MAX);
    case Type::UINT32:
      return clamp(0, UINT32_MAX);
    case Type::DECIMAL32:
      return clamp(-99999, 99999);
    case Type::DECIMAL128:
      return clamp(-9999999999, 9999999999);
    case Type::BOOL:
      return clamp(0, 1);
    // Parquet has milliseconds where Arrow has seconds, and days where it has date64.
    case Type::TIMESTAMP:
      return clamp(-(std::int64_t{1} << 40), std::int64_t{1} << 40);
    case Type::DATE64:
      return clamp(-(1 << 20), 1 << 20) * 86'400'000;
    default:
      return number;
  }
}

inline bool IsText(const arrow::DataType& type) {
  if (type.id() == arrow::Type::DICTIONARY) {
    return IsText(*static_cast<const arrow::DictionaryType&>(type).value_type());
  }
  return arrow::is_string(type.id()) || type.id() == arrow::Type::STRING_VIEW;
}

/// Make an array of `type` of `numbers`, or of words that stand for them, as near as the
/// type can hold them; nothing is a null. A type that no number fits has nulls alone.
inline std::shared_ptr<arrow::Array> MakeArray(
    const std::shared_ptr<arrow::DataType>& type,
    const std::vector<std::optional<std::int64_t>>& numbers) {
  constexpr std::array<std::string_view, 8> kWords = {
      "insert", "delete", "1", "-1", "", "a", "\xc3\xa4", "u 7"};
  if (type->id() == arrow::Type::DICTIONARY) {
    const auto values =
        MakeArray(static_cast<const arrow::DictionaryType&>(*type).value_type(), numbers);
    return arrow::compute::DictionaryEncode(values).ValueOrDie().make_array();
  }
  std::shared_ptr<arrow::Array> plain;
  if (IsText(*type)) {
    arrow::StringBuilder builder;
    for (const auto& number : numbers) {
      if (!number) {
        FUZZ_OK(builder.AppendNull());
      } else if (*number >= 0 && *number < std::ssize(kWords)) {
        FUZZ_OK(builder.Append(kWords[static_cast<std::size_t>(*number)]));
      } else {
        FUZZ_OK(builder.Append(std::to_string(*number)));
      }
    }
    plain = builder.Finish().ValueOrDie();
  } else {
    arrow::Int64Builder builder;
    for (const auto& number : numbers) {
      FUZZ_OK(number ? builder.Append(Clamped(*type, *number)) : builder.AppendNull());
    }
    plain = builder.Finish().ValueOrDie();
  }
  if (type->id() == arrow::Type::DATE32) {
    return arrow::compute::Cast(*plain, arrow::int32())
        .ValueOrDie()
        ->View(arrow::date32())
        .ValueOrDie();
  }
  const auto cast =
      arrow::compute::Cast(*plain, type, arrow::compute::CastOptions::Unsafe(type));
  return cast.ok() ? *cast : arrow::MakeArrayOfNull(type, plain->length()).ValueOrDie();
}

}  // namespace coden::fuzz
