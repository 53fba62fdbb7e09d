#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/node_id_map.h"
#include "coden/read/feature_reader.h"
#include "coden/read/input_options.h"

namespace coden {

/// Where the features of a run come from: a file, the seed, or nothing; and how they
/// change.
///
/// Both passes over the log ask here, so what a node's features are is decided once.
class NodeFeatures {
 public:
  /// Open the files and number their nodes, features first and then updates, before any
  /// node of the log. Reads the features once, for their width and largest entries.
  static arrow::Result<NodeFeatures> Open(const InputOptions& input, std::uint64_t seed,
                                          NodeIdMap& nodes);

  /// Columns of a vector.
  int width() const { return width_; }
  /// Nodes with a row in the features file: indices [0, num_rows), present from the
  /// start.
  NodeId num_rows() const { return static_cast<NodeId>(largest_.size()); }

  /// max_j |x[node, j]| of the features in force before any update.
  float LargestEntry(NodeId node, const NodeIdMap& nodes) const;

  /// Call `visit(node, vector)` for every node below `nodes.size()` whose features are
  /// not zero, before any update, in index order.
  arrow::Status ForEach(
      NodeIdMap& nodes,
      const std::function<void(NodeId, std::span<const float>)>& visit) const;

  bool has_updates() const { return !input_.feature_updates.empty(); }

  /// The stream of later vectors, in time order.
  class Updates {
   public:
    /// Whether there is nothing left to come.
    bool done() const { return reader_ == nullptr; }
    /// Call `visit(node, vector)` for every update at or before `time` that was not yet
    /// seen.
    arrow::Status AdvanceTo(
        EventTime time, NodeIdMap& nodes,
        const std::function<void(NodeId, std::span<const float>)>& visit);

   private:
    friend class NodeFeatures;
    std::unique_ptr<FeatureReader> reader_;  // none where there are no updates
    std::optional<FeatureRows> rows_;
    std::int64_t next_ = 0;
  };
  arrow::Result<Updates> OpenUpdates(const NodeIdMap& nodes) const;

 private:
  std::vector<float> RandomVector(NodeId node, const NodeIdMap& nodes) const;

  InputOptions input_;
  std::uint64_t seed_ = 0;
  int width_ = 0;
  std::vector<float> largest_;
};

}  // namespace coden
