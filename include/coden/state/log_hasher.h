#pragma once

#include <string>

#include "coden/pipeline/operator.h"
#include "coden/store/hasher.h"

namespace coden {

/// A stage of the schedule pass that lets events through and hashes them, so that a later
/// run can tell whether rows it has used before are still what they were. Punctuation
/// does not count. Nodes count by their numbers, which follow from the ids and their
/// order.
class LogHasher : public Operator {
 public:
  std::int64_t num_events() const { return num_events_; }
  std::string Digest() const;

  std::string_view name() const override { return "hash"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override { return input; }
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit&) override { return arrow::Status::OK(); }

 private:
  // One for each column, so that the digest does not depend on where batches are cut.
  Hasher src_;
  Hasher dst_;
  Hasher time_;
  Hasher kind_;
  std::int64_t num_events_ = 0;
};

}  // namespace coden
