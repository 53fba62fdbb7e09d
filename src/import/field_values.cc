#include "import/field_values_internal.h"

#include <cmath>

#include <arrow/type.h>
#include <arrow/util/utf8.h>
#include <arrow/util/value_parsing.h>

namespace coden::importing {

namespace {

constexpr RowRule kMissing = {"missing value", "a value is missing; fill it in"};
constexpr RowRule kIntegerId = {
    "id is not a whole number",
    "an id must be a whole number from -2^63 to 2^63 - 1, as the first ones are; "
    "`--ids string` takes all ids as text"};
constexpr RowRule kUtf8 = {"not UTF-8", "text must be UTF-8; convert the file"};
constexpr RowRule kIntegerLabel = {
    "label is not a whole number",
    "a label must be a whole number, as the first ones are"};
constexpr RowRule kNumberTime = {"time is not a number",
                                 "a time must be a number, as the first one is"};
constexpr RowRule kDateTime = {
    "time is not a date",
    "a time must be a number, or a date such as 2004-04-15 or 2004-04-15T01:02:03Z with "
    "at most six digits after the second"};
constexpr RowRule kFraction = {
    "time has a fraction",
    "a time must be a whole number; `--time-scale 1000` multiplies all times, which "
    "keeps milliseconds of seconds"};
constexpr RowRule kTimeRange = {"time out of range",
                                "a time must be below 2^63; choose `--time-scale`"};
constexpr RowRule kNegative = {
    "negative time", "a time must not be negative or before 1970; shift the times"};
constexpr RowRule kOp = {"op is not known",
                         "an op must be 1, insert or true, or -1, delete or false; "
                         "`--op none` leaves the column out"};
constexpr RowRule kFeature = {"feature is not a finite number",
                              "a feature must be a finite number"};

template <typename Type, typename Value>
bool Parse(std::string_view text, Value* out) {
  return arrow::internal::ParseValue<Type>(text.data(), text.size(), out);
}

bool IsUtf8(std::string_view text) {
  static const bool ready = (arrow::util::InitializeUTF8(), true);
  return ready && arrow::util::ValidateUTF8(text);
}

bool ParseDate(std::string_view text, EventTime* out) {
  return arrow::internal::ParseTimestampISO8601(text.data(), text.size(),
                                                arrow::TimeUnit::MICRO, out);
}

Broken RoundToTime(double value, std::optional<double> scale, EventTime* out) {
  const double scaled = scale ? std::round(value * *scale) : value;
  if (!(std::abs(scaled) < 0x1p63)) return kTimeRange;
  if (scaled != std::floor(scaled)) return kFraction;
  *out = static_cast<EventTime>(scaled);
  return std::nullopt;
}

Broken ParseNumberTime(std::string_view text, std::optional<double> scale,
                       EventTime* out) {
  double value = 0.0;
  if (!scale && Parse<arrow::Int64Type>(text, out)) return std::nullopt;
  if (!Parse<arrow::DoubleType>(text, &value) || std::isnan(value)) return kNumberTime;
  return RoundToTime(value, scale, out);
}

}  // namespace

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool IsInteger(std::string_view text) {
  std::int64_t ignored = 0;
  return Parse<arrow::Int64Type>(text, &ignored);
}

bool IsNumber(std::string_view text) {
  double ignored = 0.0;
  return Parse<arrow::DoubleType>(text, &ignored);
}

bool IsDate(std::string_view text) {
  EventTime ignored = 0;
  return ParseDate(text, &ignored);
}

Broken ParseId(std::string_view text, IdKind kind, std::int64_t* out) {
  if (text.empty()) return kMissing;
  if (kind == IdKind::kString) {
    return IsUtf8(text) ? Broken() : Broken(kUtf8);
  }
  return Parse<arrow::Int64Type>(text, out) ? Broken() : Broken(kIntegerId);
}

Broken ParseLabel(std::string_view text, IdKind kind, std::int64_t* out) {
  if (kind == IdKind::kString || text.empty()) return ParseId(text, kind, out);
  if (Parse<arrow::Int64Type>(text, out)) return std::nullopt;
  double value = 0.0;
  if (!Parse<arrow::DoubleType>(text, &value) || value != std::floor(value) ||
      std::abs(value) >= 0x1p53) {
    return kIntegerLabel;
  }
  *out = static_cast<std::int64_t>(value);
  return std::nullopt;
}

Broken ParseTime(std::string_view text, TimeKind kind, std::optional<double> scale,
                 EventTime* out) {
  if (text.empty()) return kMissing;
  if (kind == TimeKind::kDate) {
    if (!ParseDate(text, out)) return kDateTime;
  } else if (const Broken broken = ParseNumberTime(text, scale, out)) {
    return broken;
  }
  return *out < 0 ? Broken(kNegative) : Broken();
}

Broken ParseOp(std::string_view text, std::int8_t* out) {
  if (text.empty()) return kMissing;
  if (text == "1" || text == "insert" || text == "true") {
    *out = 1;
  } else if (text == "-1" || text == "delete" || text == "false") {
    *out = -1;
  } else {
    return kOp;
  }
  return std::nullopt;
}

Broken ParseFeature(std::string_view text, float* out) {
  if (text.empty()) return kMissing;
  if (!Parse<arrow::FloatType>(text, out) || !std::isfinite(*out)) return kFeature;
  return std::nullopt;
}

}  // namespace coden::importing
