#pragma once

#include <arrow/result.h>

#include "coden/base/operator.h"
#include "coden/read/node_features.h"
#include "coden/sample/lazy_sampler.h"

namespace coden {

/// The `sample` stage: turn the punctuated event stream into rows of the schedule.
class ScheduleSampler : public Operator {
 public:
  /// `features` and `nodes` must outlive the stage. No node is present yet.
  static arrow::Result<std::unique_ptr<ScheduleSampler>> Make(
      const SampleOptions& sample, const EmbedOptions& embed, const GraphOptions& graph,
      const NodeFeatures& features, NodeIdMap& nodes);

  const LazySampler& sampler() const { return sampler_; }
  LazySampler& sampler() { return sampler_; }

  /// Go on after prediction time `time`, with the sampler put where it was then: pass
  /// over the feature updates that it knows.
  arrow::Status ContinueAfter(EventTime time);
  /// The row of the log that an error of Push is about; -1 where it is about none.
  std::int64_t refused_row() const { return refused_row_; }
  /// A hash of the feature updates that were folded in.
  std::string update_hash() const { return updates_.hash(); }

  std::string_view name() const override { return "sample"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override;
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit& emit) override;

 private:
  ScheduleSampler(LazySampler sampler, NodeFeatures::Updates updates, NodeIdMap& nodes);
  arrow::Status FoldUpdates(EventTime time, Schedule* points);

  LazySampler sampler_;
  NodeFeatures::Updates updates_;
  NodeIdMap& nodes_;
  std::int64_t refused_row_ = -1;
};

}  // namespace coden
