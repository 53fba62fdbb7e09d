#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/types.h"
#include "coden/settings/settings.h"

namespace coden {

/// How a trial is measured.
enum class TrialKind {
  kTrain,  ///< embed, unless a trial with these snapshots did, and train
  kEmbed,  ///< embed from nothing, for its time and memory
  kError,  ///< compare embeddings and bounds with numbers from another route
};

/// One point of a suite: a whole pipeline.
struct Trial {
  std::string name;  ///< within the suite, such as "coden-s" or "0.1"
  double x = 0.0;    ///< where charts put it
  Settings settings = {};
  TrialKind kind = TrialKind::kTrain;
  std::string group = {};  ///< what a suite of several sweeps varies here
};

/// One number that was measured. What it is about is said by the members that are set.
struct Measurement {
  std::string quantity;  ///< such as micro_f1
  double value = 0.0;
  int run = -1;         ///< training run; -1: of all
  int prediction = -1;  ///< prediction time k, or 0; -1: of all
  EventTime time = kNoTime;
  int snapshot = -1;

  bool operator==(const Measurement&) const = default;
};

/// What came of a trial.
struct TrialResult {
  std::vector<Measurement> measurements;
  /// An earlier process had done a part of it: times are of the rest alone.
  bool resumed = false;

  /// The values of `quantity`, in the order they were measured.
  std::vector<double> Values(std::string_view quantity) const;
  /// The one value of `quantity`; NaN where there is none.
  double Value(std::string_view quantity) const;
};

/// A finished trial as the text of a file, and back. Text that is none is an error.
std::string ToJson(const Trial& trial, const TrialResult& result);
arrow::Result<TrialResult> TrialResultFromJson(const std::string& text);

}  // namespace coden
