#pragma once

#include <cstdint>
#include <string>

#include "coden/graph/types.h"
#include "coden/pipeline/operator.h"
#include "coden/read/input_options.h"

namespace coden {

/// A stage that deals with rows added to a log after a prediction was made for their
/// time: at or before `last_time` they are refused, or dropped and counted. Times do not
/// fall, so these rows come first.
class LateRows : public Operator {
 public:
  /// `first_row` is the row of the log that comes first, for messages about `path`.
  LateRows(LatePolicy policy, EventTime last_time, std::int64_t first_row,
           std::string path);

  std::int64_t num_dropped() const { return num_dropped_; }

  std::string_view name() const override { return "late"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override { return input; }
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit&) override { return arrow::Status::OK(); }

 private:
  LatePolicy policy_;
  EventTime last_time_;
  std::int64_t first_row_;
  std::string path_;
  std::int64_t num_dropped_ = 0;
};

}  // namespace coden
