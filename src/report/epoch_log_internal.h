#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace coden {

/// One epoch of the training, means over the runs that got that far. NaN where no line
/// has the value.
struct EpochFigure {
  std::int64_t epoch = 0;
  double loss = 0.0;
  double validate_loss = 0.0;
  double validate_micro_f1 = 0.0;
};

struct EpochLog {
  std::vector<EpochFigure> epochs;  ///< in order
  std::size_t num_runs = 0;
  std::size_t num_skipped = 0;  ///< lines that are no JSON object with an epoch
};

/// Read the lines of metrics.jsonl. Never fails: a log that was cut off by a killed run
/// still gives its whole lines.
EpochLog ReadEpochLog(std::span<const std::string> lines);

}  // namespace coden
