#include "read/time_warnings_internal.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <arrow/type.h>

#include "coden/base/printable.h"
#include "read/time_index_internal.h"
#include "read/time_limits_internal.h"

namespace coden {

namespace {

struct Unit {
  std::string_view name;
  double seconds;
};

constexpr Unit kUnits[] = {{"days", 86'400.0},
                           {"seconds", 1.0},
                           {"milliseconds", 1e-3},
                           {"microseconds", 1e-6},
                           {"nanoseconds", 1e-9}};

// The unit of a column of times; nothing where it is a plain number.
std::optional<Unit> UnitOf(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::DATE32:
      return kUnits[0];
    case arrow::Type::DATE64:
      return kUnits[2];
    case arrow::Type::TIMESTAMP:
      return kUnits[1 + static_cast<int>(
                            static_cast<const arrow::TimestampType&>(type).unit())];
    default:
      return std::nullopt;
  }
}

class Warnings {
 public:
  Warnings(EventTime first, EventTime last, const std::shared_ptr<arrow::DataType>& type)
      : first_(first), last_(last), unit_(UnitOf(*type)) {
    log_ = "the log has times from " + ShowTime(first, type) + " to " +
           ShowTime(last, type) + ", in " +
           (unit_ ? std::string(unit_->name) + " since 1970" : "whole numbers");
  }

  // A moment: where it lies outside of the log, that has `effect`.
  void CheckTime(std::string_view setting, EventTime time, std::string_view if_before,
                 std::string_view if_after) {
    if (time >= first_ && time <= last_) return;
    Add(setting, time, time < first_ ? "lies before the log" : "lies after the log",
        time < first_ ? if_before : if_after, InAnotherUnit(time));
  }

  // A span of time: where it is longer than the log, that has `effect`.
  void CheckSpan(std::string_view setting, EventTime span, std::string_view effect) {
    const double log = static_cast<double>(last_ - first_);
    if (span <= 0 || last_ == first_) return;
    const auto length = static_cast<double>(span);
    if (length > log) {
      Add(setting, span, "is longer than the log", effect,
          length > kStrangeRatio * log ? "; is it in another unit?" : "");
    } else if (length * kTinyRatio < log) {
      Add(setting, span, "is less than a ten-millionth of the log", {},
          "; is it in another unit?");
    }
  }

  void Add(std::string_view setting, EventTime value, std::string_view what,
           std::string_view effect, const std::string& hint) {
    std::string text = "`" + std::string(setting) + "` = " + std::to_string(value) + " " +
                       std::string(what);
    if (!effect.empty()) text += ", so " + std::string(effect);
    texts_.push_back(text + ": " + log_ + hint);
  }

  std::vector<std::string> Take() { return std::move(texts_); }

 private:
  static constexpr double kStrangeRatio = 900.0;
  static constexpr double kTinyRatio = 1e7;

  bool Holds(double time) const {
    return time >= static_cast<double>(first_) && time <= static_cast<double>(last_);
  }

  // The unit in which `time` would lie in the log.
  std::string InAnotherUnit(EventTime time) const {
    const auto value = static_cast<double>(time);
    if (value <= 0) return {};
    if (unit_) {
      for (const Unit& unit : kUnits) {
        if (Holds(value * unit.seconds / unit_->seconds))
          return "; it would lie in the log if it were in " + std::string(unit.name);
      }
      return {};
    }
    for (const double factor : {1e3, 1e6, 1e9, 86'400.0}) {
      const std::string shown = FormatCount(static_cast<std::int64_t>(factor));
      if (Holds(value * factor))
        return "; multiplied by " + shown + " it would lie in the log: another unit?";
      if (Holds(value / factor))
        return "; divided by " + shown + " it would lie in the log: another unit?";
    }
    return {};
  }

  EventTime first_;
  EventTime last_;
  std::optional<Unit> unit_;
  std::string log_;
  std::vector<std::string> texts_;
};

bool HasLabelWindows(const Settings& settings) {
  const std::vector<EventTime>& windows = settings.train.label_windows;
  return settings.train.label_columns > 0 && !settings.input.labels.empty() &&
         std::any_of(windows.begin(), windows.end(),
                     [](EventTime window) { return window > 0; });
}

bool NamesTimes(const Settings& settings) {
  const PartitionOptions& partition = settings.partition;
  return !settings.input.from.empty() || !settings.input.until.empty() ||
         std::holds_alternative<InitialBefore>(partition.initial) ||
         partition.width > 0 || !partition.times.empty() || settings.graph.window > 0;
}

// Times that the log has not reached are what a run that waits is for.
void CheckPredictionTimes(const PartitionOptions& partition, Warnings* warnings) {
  const bool waits = partition.unfinished == UnfinishedInterval::kWait;
  for (const EventTime time : partition.times) {
    if (waits && time != partition.times.front()) break;
    warnings->CheckTime("partition.times", time, "its graph has no edge",
                        waits ? "nothing is predicted yet"
                              : "its prediction is made from the rows there are");
  }
}

// The first and the last time of a log, and those of them that the settings limit it to.
struct Times {
  EventTime first = 0;
  EventTime last = 0;
  TimeLimits limits;

  EventTime first_read() const { return std::max(first, limits.from.value_or(first)); }
  EventTime last_read() const {
    return std::min(last, limits.until.value_or(last + 1) - 1);
  }
};

// Nothing where the log has no row.
arrow::Result<std::optional<Times>> TimesOf(const Settings& settings,
                                            const ParquetSource& source,
                                            const InputColumn& time) {
  ARROW_ASSIGN_OR_RAISE(const std::int64_t num_rows, source.CountRows());
  if (num_rows == 0) return std::nullopt;
  const OnBreach any_order = [](const Breach&) { return arrow::Status::OK(); };
  ARROW_ASSIGN_OR_RAISE(const TimeIndex index,
                        TimeIndex::Make(source, time.name, any_order));
  Times times;
  ARROW_ASSIGN_OR_RAISE(times.first, index.FirstTime());
  ARROW_ASSIGN_OR_RAISE(times.last, index.LastTime());
  ARROW_ASSIGN_OR_RAISE(times.limits, ReadTimeLimits(settings.input, *time.type));
  return times;
}

}  // namespace

arrow::Result<std::vector<std::string>> TimeWarnings(const Settings& settings,
                                                     const ParquetSource& source,
                                                     const InputColumn& time) {
  if (!NamesTimes(settings)) return std::vector<std::string>();
  ARROW_ASSIGN_OR_RAISE(const auto times, TimesOf(settings, source, time));
  if (!times) return std::vector<std::string>();
  const TimeLimits& limits = times->limits;
  Warnings of_log(times->first, times->last, time.type);
  if (limits.from) of_log.CheckTime("input.from", *limits.from, "no row is left out", {});
  if (limits.until)
    of_log.CheckTime("input.until", *limits.until, {}, "no row is left out");
  std::vector<std::string> texts = of_log.Take();

  // All else is about the rows that are read.
  Warnings warnings(times->first_read(), times->last_read(), time.type);
  const PartitionOptions& partition = settings.partition;
  if (const auto* before = std::get_if<InitialBefore>(&partition.initial)) {
    warnings.CheckTime("partition.initial", before->time, "the initial graph is empty",
                       "the initial graph takes every row");
  }
  CheckPredictionTimes(partition, &warnings);
  warnings.CheckSpan("partition.width", partition.width, "there is one prediction time");
  warnings.CheckSpan("graph.window", settings.graph.window, "no edge expires");
  const std::vector<std::string> more = warnings.Take();
  texts.insert(texts.end(), more.begin(), more.end());
  return texts;
}

arrow::Result<std::vector<std::string>> LabelWindowWarnings(const Settings& settings,
                                                            const ParquetSource& source,
                                                            const InputColumn& time) {
  if (!HasLabelWindows(settings)) return std::vector<std::string>();
  ARROW_ASSIGN_OR_RAISE(const auto times, TimesOf(settings, source, time));
  if (!times) return std::vector<std::string>();
  Warnings warnings(times->first_read(), times->last_read(), time.type);
  for (const EventTime window : settings.train.label_windows)
    warnings.CheckSpan("train.label_windows", window, "no edge expires in it");
  return warnings.Take();
}

}  // namespace coden
