#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "coden/base/types.h"
#include "train/model_files_internal.h"
#include "train/node_history_internal.h"

// A face of the LibTorch part of the folder: no LibTorch type appears in it.

namespace coden {

/// Nodes that go through a network at a time. Always that many, with zeros behind the
/// last: what a node is told then depends on its own numbers alone, to the last bit.
inline constexpr std::int64_t kBlockNodes = 512;

/// Whether the state of the model is the history itself: it grows with every snapshot.
bool KeepsHistory(const ModelConfig& config);

/// What a network has come to for every node of a run, brought forward snapshot by
/// snapshot. Nodes have the numbers of the run; those that are not there yet have zeros.
class NodeStates {
 public:
  /// Write what there is of nodes [first, first + count) to `out`, [count, width], which
  /// holds zeros. Called from many threads at once.
  using FillRows = std::function<arrow::Status(NodeId first, NodeId count, float* out)>;

  /// A snapshot to take in.
  struct Snapshot {
    FillRows channels;  ///< of all groups
    FillRows features;  ///< standardised; asked for where the snapshot is scored
    /// Where the probabilities go, [nodes, classes]; null: it is not scored.
    float* probabilities = nullptr;
  };

  /// Seconds of the clock, divided as the threads have worked.
  struct Times {
    double states = 0.0;
    double scores = 0.0;
  };

  /// Start before any snapshot. Weights that are not of the config are corruption of the
  /// file `shown`. Throws what LibTorch throws, as all of it.
  static arrow::Result<std::unique_ptr<NodeStates>> Make(const SavedModel& model,
                                                         NodeId num_nodes,
                                                         const std::string& shown);
  virtual ~NodeStates() = default;

  /// Bytes that the states of one node take; histories are not among them.
  static std::int64_t BytesPerNode(const ModelConfig& config);

  virtual arrow::Result<Times> Take(const Snapshot& snapshot) = 0;

  /// For a model that keeps history: score all nodes at snapshot number `at` of the
  /// histories, which are those of the groups, of all nodes. The channels are not used.
  virtual arrow::Result<Times> ScoreHistory(
      const std::vector<std::shared_ptr<const NodeHistory>>& groups, std::int64_t at,
      const Snapshot& snapshot) = 0;

  /// A state of all nodes, [rows, ...]. There are `num_nodes` rows that count, and zeros
  /// behind them.
  struct State {
    std::vector<std::int64_t> row_shape;
    std::vector<float> values;

    std::int64_t width() const;
  };
  /// In the order of the network; none for a model that keeps history.
  virtual std::vector<State>& states() = 0;
  virtual NodeId num_nodes() const = 0;
};

}  // namespace coden
