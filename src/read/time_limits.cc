#include "read/time_limits_internal.h"

#include <charconv>

#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "coden/base/error.h"
#include "read/time_index_internal.h"

namespace coden {

namespace {

constexpr std::string_view kNoneInRange =
    "there is no row from `input.from` on and before `input.until`; choose other times";
constexpr EventTime kDaySeconds = 86'400;

std::optional<EventTime> ReadNumber(const std::string& text) {
  EventTime number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || rest != end) return std::nullopt;
  return number;
}

std::optional<EventTime> ReadTimestamp(const std::string& text,
                                       arrow::TimeUnit::type unit) {
  const auto scalar = arrow::Scalar::Parse(arrow::timestamp(unit), text);
  if (!scalar.ok()) return std::nullopt;
  return static_cast<const arrow::TimestampScalar&>(**scalar).value;
}

// A limit inside a day begins with the next one: a date stands for its first moment.
std::optional<EventTime> ReadDays(const std::string& text) {
  const auto seconds = ReadTimestamp(text, arrow::TimeUnit::SECOND);
  if (!seconds) return std::nullopt;
  const EventTime days = *seconds / kDaySeconds;
  return days + (*seconds % kDaySeconds > 0 ? 1 : 0);
}

std::optional<EventTime> ReadIso(const std::string& text, const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::TIMESTAMP:
      return ReadTimestamp(text, static_cast<const arrow::TimestampType&>(type).unit());
    case arrow::Type::DATE64:
      return ReadTimestamp(text, arrow::TimeUnit::MILLI);
    case arrow::Type::DATE32:
      return ReadDays(text);
    default:
      return std::nullopt;
  }
}

arrow::Result<std::optional<EventTime>> ReadLimit(const std::string& text,
                                                  const char* setting,
                                                  const arrow::DataType& type) {
  if (text.empty()) return std::nullopt;
  auto limit = ReadNumber(text);
  if (!limit) limit = ReadIso(text, type);
  if (limit) return limit;
  return UsageError(
      "`", setting, "` must be a whole number",
      arrow::is_temporal(type.id())
          ? " or a date or time such as 2024-01-05T12:00:00Z, no finer than the times of "
            "the log, which are "
          : ", as the times of the log are ",
      type.ToString(), ": ", text);
}

}  // namespace

arrow::Result<TimeLimits> ReadTimeLimits(const InputOptions& input,
                                         const arrow::DataType& type) {
  TimeLimits limits;
  ARROW_ASSIGN_OR_RAISE(limits.from, ReadLimit(input.from, "input.from", type));
  ARROW_ASSIGN_OR_RAISE(limits.until, ReadLimit(input.until, "input.until", type));
  if (limits.from && limits.until && *limits.from >= *limits.until) {
    return UsageError("`input.from` must be before `input.until`: ", input.from, " and ",
                      input.until);
  }
  return limits;
}

arrow::Result<RowsInRange> FindRowsInRange(const ParquetSource& source,
                                           const InputOptions& input,
                                           const InputColumn& time, std::int64_t num_rows,
                                           const OnBreach& on_breach) {
  RowsInRange rows{0, num_rows};
  ARROW_ASSIGN_OR_RAISE(const TimeLimits limits, ReadTimeLimits(input, *time.type));
  if (!limits.any() || num_rows == 0) return rows;
  // Late rows lie after a row of a later time. All that are before a limit are before the
  // first row that has reached it, or late.
  const bool sorted = input.late == LatePolicy::kRefuse;
  const OnBreach any_order = [](const Breach&) { return arrow::Status::OK(); };
  ARROW_ASSIGN_OR_RAISE(
      const TimeIndex index,
      TimeIndex::Make(source, time.name, sorted ? on_breach : any_order));
  if (limits.from) {
    ARROW_ASSIGN_OR_RAISE(rows.begin, index.FirstRowFrom(*limits.from, sorted));
  }
  if (limits.until) {
    ARROW_ASSIGN_OR_RAISE(rows.end, index.FirstRowFrom(*limits.until, sorted));
  }
  if (rows.begin >= rows.end) {
    rows.end = rows.begin;
    ARROW_ASSIGN_OR_RAISE(const EventTime first, index.FirstTime());
    ARROW_ASSIGN_OR_RAISE(const EventTime last, index.LastTime());
    ARROW_RETURN_NOT_OK(on_breach({time.name, -1, std::string(kNoneInRange),
                                   "the log has " + ShowTime(first, time.type) + " to " +
                                       ShowTime(last, time.type)}));
  }
  return rows;
}

std::string ShowTime(EventTime time, const std::shared_ptr<arrow::DataType>& type) {
  std::string number = std::to_string(time);
  if (!arrow::is_temporal(type->id())) return number;
  std::shared_ptr<arrow::Scalar> whole = arrow::MakeScalar(time);
  if (type->id() == arrow::Type::DATE32) {
    whole = arrow::MakeScalar(static_cast<std::int32_t>(time));
  }
  const auto shown = whole->CastTo(type);
  return shown.ok() ? (*shown)->ToString() + " (" + number + ")" : number;
}

}  // namespace coden
