// Prediction times t_1 < t_2 < ... cut the log into batches: batch k holds every event
// with t_{k-1} < time <= t_k. A cut is only ever made where the time rises, so equal
// times are never split; equal-count batches grow to the next rise.

#include "coden/partition/prediction_clock.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coden/base/error.h"

namespace coden {

namespace {

// A width far below the log's span would make prediction times without end.
constexpr int kMaxPredictions = 1'000'000;

}  // namespace

PredictionClock::PredictionClock(const PartitionOptions& options, std::int64_t num_rows,
                                 EventTime log_end)
    : options_(options), num_rows_(num_rows), log_end_(log_end) {
  if (options_.predictions == 0 && options_.width == 0 && options_.times.empty()) {
    options_.predictions = PartitionOptions::kDefaultPredictions;
  }
}

arrow::Result<PredictionClock> PredictionClock::Make(const PartitionOptions& options,
                                                     std::int64_t num_rows,
                                                     EventTime log_end) {
  const auto* before = std::get_if<InitialBefore>(&options.initial);
  if (before != nullptr && !options.times.empty() &&
      options.times.front() < before->time) {
    return UsageError(
        "the first of `partition.times` must not lie before `partition.initial`: ",
        options.times.front(), " and ", before->time);
  }
  return PredictionClock(options, num_rows, log_end);
}

arrow::Result<PredictionClock> PredictionClock::Continue(const PartitionOptions& options,
                                                         const ClockMemory& memory,
                                                         std::int64_t num_rows,
                                                         EventTime log_end) {
  ARROW_ASSIGN_OR_RAISE(PredictionClock clock, Make(options, num_rows, log_end));
  clock.started_ = true;
  clock.start_time_ = memory.start_time;
  clock.rows_ = clock.start_rows_ = memory.rows;
  clock.last_time_ = clock.last_close_ = memory.last_time;
  clock.num_predictions_ = memory.num_predictions;
  clock.rows_per_batch_ = memory.rows_per_batch;
  if (clock.options_.predictions > 0) {
    const double batches = static_cast<double>(num_rows - memory.rows) /
                           std::max(memory.rows_per_batch, 1.0);
    clock.options_.predictions =
        static_cast<int>(std::clamp<double>(std::round(batches), 1, kMaxPredictions));
  }
  return clock;
}

ClockMemory PredictionClock::memory() const {
  return {start_time_, rows_, last_close_, num_predictions_, rows_per_batch_};
}

bool PredictionClock::InitialEndsBefore(EventTime time) const {
  if (const auto* before = std::get_if<InitialBefore>(&options_.initial)) {
    return time >= before->time;
  }
  const double fraction = std::get<InitialFraction>(options_.initial).fraction;
  const auto target =
      static_cast<std::int64_t>(std::floor(fraction * static_cast<double>(num_rows_)));
  return rows_ >= target && (rows_ == 0 || time > last_time_);
}

void PredictionClock::Start(EventTime next_time, std::vector<Mark>* marks) {
  const auto* before = std::get_if<InitialBefore>(&options_.initial);
  started_ = true;
  start_rows_ = rows_;
  rows_per_batch_ =
      static_cast<double>(num_rows_ - start_rows_) / std::max(options_.predictions, 1);
  start_time_ = before != nullptr ? before->time - 1
                : rows_ == 0      ? next_time - 1
                                  : last_time_;
  marks->push_back({EventKind::kStart, rows_ == 0 ? start_time_ : last_time_});
}

arrow::Status PredictionClock::Close(EventTime time, std::vector<Mark>* marks) {
  if (++num_predictions_ > kMaxPredictions) {
    return UsageError("`partition.width` makes more than ", kMaxPredictions,
                      " prediction times; choose a larger one: ", options_.width);
  }
  last_close_ = time;
  marks->push_back({EventKind::kPredict, time});
  return arrow::Status::OK();
}

// Rows of the log up to the end of equal-count batch `batch`, rounded up so that no batch
// is planned empty.
std::int64_t PredictionClock::CountTarget(int batch) const {
  const std::int64_t rest = num_rows_ - start_rows_;
  const auto share = static_cast<__int128>(rest) * batch + options_.predictions - 1;
  return start_rows_ + static_cast<std::int64_t>(share / options_.predictions);
}

// The last batch takes what is left, also of a log that is longer than it was said to be.
bool PredictionClock::CountBatchIsFull() const {
  return count_batch_ < options_.predictions && rows_ >= CountTarget(count_batch_);
}

// End of the open interval of `width`; never beyond the largest time.
EventTime PredictionClock::WidthEnd() const {
  const auto end = static_cast<__int128>(start_time_) +
                   static_cast<__int128>(options_.width) * (num_predictions_ + 1);
  constexpr auto kLargest = std::numeric_limits<EventTime>::max();
  return end > kLargest ? kLargest : static_cast<EventTime>(end);
}

arrow::Result<bool> PredictionClock::Next(EventTime time, std::vector<Mark>* marks) {
  if (!started_ && InitialEndsBefore(time)) {
    Start(time, marks);
    if (!options_.times.empty() && options_.times.front() <= start_time_) {
      return UsageError(
          "the first of `partition.times` lies in the initial graph, which ends at ",
          start_time_, ": ", options_.times.front());
    }
  }
  if (started_) {
    if (!options_.times.empty()) {
      const auto count = static_cast<int>(options_.times.size());
      while (num_predictions_ < count && time > options_.times[num_predictions_]) {
        ARROW_RETURN_NOT_OK(Close(options_.times[num_predictions_], marks));
      }
      if (num_predictions_ == count || Waits(options_.times[num_predictions_])) {
        ++num_unused_;
        return false;
      }
    } else if (options_.width > 0) {
      while (time > WidthEnd()) ARROW_RETURN_NOT_OK(Close(WidthEnd(), marks));
      if (Waits(WidthEnd())) {
        ++num_unused_;
        return false;
      }
    } else if (rows_ > start_rows_ && time > last_time_ && CountBatchIsFull()) {
      ARROW_RETURN_NOT_OK(Close(last_time_, marks));
      for (++count_batch_; CountBatchIsFull(); ++count_batch_) ++num_merged_;
    }
  }
  ++rows_;
  last_time_ = time;
  return true;
}

arrow::Status PredictionClock::Finish(std::vector<Mark>* marks) {
  const bool by_count = options_.times.empty() && options_.width == 0;
  if (options_.unfinished == UnfinishedInterval::kWait && !by_count && started_) {
    if (num_predictions_ > 0) return arrow::Status::OK();
    return UnavailableError(
        "no prediction time has passed yet, so there is nothing to predict; wait for "
        "more "
        "rows, or set `partition.unfinished = predict`: the log ends at ",
        log_end_);
  }
  if (!options_.times.empty() && started_) {
    while (num_predictions_ < static_cast<int>(options_.times.size())) {
      ARROW_RETURN_NOT_OK(Close(options_.times[num_predictions_], marks));
    }
    return arrow::Status::OK();
  }
  if (started_ && rows_ == start_rows_ && num_predictions_ > 0)
    return arrow::Status::OK();
  if (!started_ || rows_ == start_rows_) {
    return UsageError(
        "`partition.initial` takes the whole log, so there is nothing to predict: ",
        rows_, " rows, the last at time ", last_time_);
  }
  if (options_.predictions > 0) num_merged_ += options_.predictions - count_batch_;
  return Close(options_.width > 0 ? WidthEnd() : last_time_, marks);
}

}  // namespace coden
