#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace coden {

/// One epoch of the training. NaN where its line lacks the value.
struct EpochFigure {
  double loss = 0.0;
  double validate_loss = 0.0;
  double validate_micro_f1 = 0.0;
};

struct EpochLog {
  /// (run, lesson) -> epoch -> figures. A run that was taken up again repeats epochs; the
  /// last line of each counts.
  std::map<std::pair<std::int64_t, std::int64_t>, std::map<std::int64_t, EpochFigure>>
      curves;
  std::size_t num_skipped = 0;  ///< lines that are no JSON object with an epoch
};

/// Read the lines of metrics.jsonl. Never fails: a log that was cut off by a killed run
/// still gives its whole lines.
EpochLog ReadEpochLog(std::span<const std::string> lines);

}  // namespace coden
