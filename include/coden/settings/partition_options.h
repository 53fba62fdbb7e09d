#pragma once

#include <variant>
#include <vector>

#include "coden/base/types.h"

namespace coden {

/// The initial graph as a share of the log's rows, in [0, 1].
struct InitialFraction {
  double fraction = 0.0;
};

/// The initial graph as everything before a time.
struct InitialBefore {
  EventTime time = 0;
};

using InitialGraph = std::variant<InitialFraction, InitialBefore>;

/// What to do about a prediction time that the log has not passed yet.
enum class UnfinishedInterval {
  kPredict,  ///< predict with the rows there are
  kWait,     ///< leave its rows for a later run, when more have come
};

/// Where the prediction times lie. At most one of the three ways is set; none of them
/// means kDefaultPredictions equal-count batches.
struct PartitionOptions {
  static constexpr int kDefaultPredictions = 10;

  InitialGraph initial = InitialFraction{0.5};
  int predictions = 0;
  EventTime width = 0;
  std::vector<EventTime> times;
  UnfinishedInterval unfinished = UnfinishedInterval::kPredict;
};

}  // namespace coden
