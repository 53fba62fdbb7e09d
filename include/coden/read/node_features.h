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
#include "coden/settings/input_options.h"
#include "coden/store/hasher.h"

namespace coden {

/// Hash rows of nodes, times and vectors, whatever batches they come in.
class RowHasher {
 public:
  void Add(NodeId node, EventTime time, std::span<const float> vector);
  std::string Digest() const { return hasher_.Digest(); }

 private:
  Hasher hasher_;
};

/// Where the features of a run come from: a file, the seed, or nothing; and how they
/// change.
///
/// Both passes over the log ask here, so what a node's features are is decided once.
class NodeFeatures {
 public:
  /// Open the files and number their nodes, features first and then updates, before any
  /// node of the log. Reads the features once, for their width and largest entries.
  ///
  /// Where `known_rows` rows of the features were there before, known_hash() tells
  /// whether they are what they were.
  static arrow::Result<NodeFeatures> Open(const InputOptions& input, NodeIdMap& nodes,
                                          std::int64_t known_rows = 0);

  /// Columns of a vector.
  int width() const { return width_; }
  /// Nodes with a row in the features file, in the order of rows: present from the start.
  const std::vector<NodeId>& row_nodes() const { return row_nodes_; }

  /// A hash of all rows of the features file, and of the first `known_rows`. Nodes count
  /// by their numbers.
  const std::string& hash() const { return hash_; }
  const std::string& known_hash() const { return known_hash_; }

  /// max_j |x[node, j]| of the features in force before any update.
  float LargestEntry(NodeId node, const NodeIdMap& nodes) const;

  /// Call `visit(node, vector)` for every node below `nodes.size()` whose features are
  /// not zero, before any update, in index order.
  arrow::Status ForEach(
      NodeIdMap& nodes,
      const std::function<void(NodeId, std::span<const float>)>& visit) const;

  /// By node, how many feature updates it has; nodes after the last with one are left
  /// out.
  const std::vector<std::int64_t>& update_rows() const { return update_rows_; }

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
    /// A hash of all updates seen so far.
    std::string hash() const;

   private:
    friend class NodeFeatures;
    std::unique_ptr<FeatureReader> reader_;  // none where there are no updates
    std::optional<FeatureRows> rows_;
    std::int64_t next_ = 0;
    RowHasher hasher_;
  };
  arrow::Result<Updates> OpenUpdates(const NodeIdMap& nodes) const;

 private:
  std::vector<float> RandomVector(NodeId node, const NodeIdMap& nodes) const;

  InputOptions input_;
  int width_ = 0;
  std::vector<NodeId> row_nodes_;
  std::vector<float> largest_;  // by node; kNoRow where it has no row
  std::vector<std::int64_t> update_rows_;
  std::string hash_;
  std::string known_hash_;
};

}  // namespace coden
