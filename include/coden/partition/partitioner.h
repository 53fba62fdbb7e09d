#pragma once

#include <vector>

#include "coden/base/operator.h"
#include "coden/partition/prediction_clock.h"
#include "coden/read/event_batch.h"

namespace coden {

/// The `partition` stage: set punctuation between events where the initial graph ends and
/// where prediction times close; leave out events after the last prediction time.
class Partitioner : public Operator {
 public:
  explicit Partitioner(PredictionClock clock) : clock_(std::move(clock)) {}

  const PredictionClock& clock() const { return clock_; }

  std::string_view name() const override { return "partition"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override;
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit& emit) override;

 private:
  arrow::Status EmitMarks(const Emit& emit);

  PredictionClock clock_;
  std::vector<PredictionClock::Mark> marks_;
};

}  // namespace coden
