#pragma once

#include "coden/graph/node_id_map.h"
#include "coden/pipeline/operator.h"

namespace coden {

/// Pass on the snapshot rows of some nodes: what `snapshot.nodes = labelled` asks for.
class NodeFilter : public Operator {
 public:
  /// `keep` is the set of nodes to pass on; it must outlive the stage.
  explicit NodeFilter(const NodeIdMap& keep) : keep_(keep) {}

  std::string_view name() const override { return "filter"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override;
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit&) override { return arrow::Status::OK(); }

 private:
  const NodeIdMap& keep_;
  int node_column_ = -1;
};

}  // namespace coden
