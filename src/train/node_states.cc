// The streaming form of a network over all nodes of a run.
//
// Method: nodes are cut into blocks by number, and threads take blocks. A block's states
// lie in one piece of memory, which LibTorch reads and writes in place, so what is there
// at a time beside the states is a block per thread. States of nodes that have not come
// are zeros, and stay zeros: every model maps zero states and a row of zeros to zeros.
//
// Products of matrices round by the shape of their operands. Blocks therefore always have
// the same shape, and a node its place in one: a run that has grown since, or was
// predicted in other steps, gives the same numbers.

#include "train/node_states_internal.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <numeric>

#include "coden/base/error.h"
#include "train/network_internal.h"

namespace coden {

namespace {

using Clock = std::chrono::steady_clock;

// Histories are long, so fewer nodes have theirs in memory at a time.
constexpr std::int64_t kHistoryBlockNodes = 128;

// Threads take blocks, so LibTorch is not to start more of them.
void UseOneTorchThread() {
  thread_local bool done = false;
  if (!done) at::set_num_threads(1);
  done = true;
}

double Seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

NetworkShape ShapeOf(const ModelConfig& config) {
  NetworkShape shape;
  shape.channels = config.ChannelGroups();
  shape.features = config.features;
  shape.num_classes = config.num_classes();
  shape.start_channel = config.StartChannel();
  return shape;
}

// Work of all threads, in nanoseconds.
struct Work {
  std::atomic<std::int64_t> states = 0;
  std::atomic<std::int64_t> scores = 0;

  NodeStates::Times Divide(double seconds) const {
    const auto in_states = static_cast<double>(states);
    const double all = in_states + static_cast<double>(scores);
    const double share = all > 0.0 ? in_states / all : 1.0;
    return {seconds * share, seconds * (1.0 - share)};
  }
};

void Add(std::atomic<std::int64_t>& to, Clock::duration time) {
  to += std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

class TorchNodeStates : public NodeStates {
 public:
  TorchNodeStates(const SavedModel& model, NodeId num_nodes)
      : config_(model.config),
        shape_(ShapeOf(model.config)),
        network_(std::make_shared<Network>(shape_, model.config.options)),
        num_nodes_(num_nodes) {}

  arrow::Status Start(const SavedModel& model, const std::string& shown) {
    if (!network_->SetWeights(model.weights)) {
      return CorruptionError("the weights '", shown,
                             "' are not of the model that its config.json describes; "
                             "train it anew");
    }
    network_->eval();
    if (KeepsHistory(config_)) return arrow::Status::OK();
    const std::int64_t num_rows = NumBlocks(kBlockNodes) * kBlockNodes;
    for (const torch::Tensor& state : network_->StartStates(1)) {
      State& added = states_.emplace_back();
      added.row_shape.assign(state.sizes().begin() + 1, state.sizes().end());
      added.values.assign(static_cast<std::size_t>(num_rows * added.width()), 0.0f);
    }
    return arrow::Status::OK();
  }

  arrow::Result<Times> Take(const Snapshot& snapshot) override {
    return ForEachBlock(
        kBlockNodes, [&](NodeId first, NodeId count, Work& work) -> arrow::Status {
          const auto start = Clock::now();
          const torch::Tensor rows = torch::zeros({kBlockNodes, shape_.num_channels()});
          if (shape_.num_channels() > 0)
            ARROW_RETURN_NOT_OK(snapshot.channels(first, count, rows.data_ptr<float>()));
          std::vector<torch::Tensor> places = Places(first);
          std::vector<torch::Tensor> states = places;
          const torch::Tensor stepped = network_->Step(states, rows);
          for (std::size_t i = 0; i < states.size(); ++i) {
            if (!states[i].is_same(places[i])) places[i].copy_(states[i]);
          }
          const auto stepped_at = Clock::now();
          Add(work.states, stepped_at - start);
          if (snapshot.probabilities == nullptr) return arrow::Status::OK();
          ARROW_ASSIGN_OR_RAISE(const torch::Tensor features,
                                Features(kBlockNodes, first, count, snapshot));
          Keep(network_->Score(stepped, rows, features), first, count, snapshot);
          Add(work.scores, Clock::now() - stepped_at);
          return arrow::Status::OK();
        });
  }

  arrow::Result<Times> ScoreHistory(
      const std::vector<std::shared_ptr<const NodeHistory>>& groups, std::int64_t at,
      const Snapshot& snapshot) override {
    const std::int64_t num_snapshots = at + 1;
    const torch::Tensor prepared = network_->Prepare(SnapshotList(&at, 1));
    const torch::Tensor pairs = torch::arange(kHistoryBlockNodes, torch::kInt64);
    return ForEachBlock(
        kHistoryBlockNodes, [&](NodeId first, NodeId count, Work& work) -> arrow::Status {
          const auto start = Clock::now();
          const torch::Tensor history =
              torch::zeros({kHistoryBlockNodes, shape_.num_channels(), num_snapshots});
          auto* to = history.data_ptr<float>();
          for (NodeId node = first; node < first + count; ++node) {
            for (const auto& group : groups) {
              ARROW_RETURN_NOT_OK(group->Read(node, num_snapshots, to));
              to += group->shape().channels * num_snapshots;
            }
          }
          const auto read_at = Clock::now();
          Add(work.states, read_at - start);
          ARROW_ASSIGN_OR_RAISE(torch::Tensor features,
                                Features(kHistoryBlockNodes, first, count, snapshot));
          if (features.defined()) features = features.unsqueeze(1);
          SplitMix64 random(0);
          Keep(network_->Forward(history, SnapshotList(&at, 1), prepared, features, pairs,
                                 random),
               first, count, snapshot);
          Add(work.scores, Clock::now() - read_at);
          return arrow::Status::OK();
        });
  }

  std::vector<State>& states() override { return states_; }
  NodeId num_nodes() const override { return num_nodes_; }

 private:
  using DoBlock = std::function<arrow::Status(NodeId first, NodeId count, Work& work)>;

  // The first error of any block is returned; what LibTorch throws comes out as it is.
  arrow::Result<Times> ForEachBlock(std::int64_t block_nodes, const DoBlock& run) {
    const auto start = Clock::now();
    Work work;
    std::mutex mutex;
    arrow::Status status;
    tbb::parallel_for(std::int64_t{0}, NumBlocks(block_nodes), [&](std::int64_t block) {
      UseOneTorchThread();
      const torch::NoGradGuard no_gradients;
      const auto first = static_cast<NodeId>(block * block_nodes);
      const auto count =
          static_cast<NodeId>(std::min<std::int64_t>(block_nodes, num_nodes_ - first));
      const arrow::Status done = run(first, count, work);
      if (done.ok()) return;
      const std::lock_guard lock(mutex);
      status &= done;
    });
    ARROW_RETURN_NOT_OK(status);
    return work.Divide(Seconds(Clock::now() - start));
  }

  std::int64_t NumBlocks(std::int64_t block_nodes) const {
    return (num_nodes_ + block_nodes - 1) / block_nodes;
  }

  // The states of a block, as tensors that lie where they are kept.
  std::vector<torch::Tensor> Places(NodeId first) {
    std::vector<torch::Tensor> places;
    places.reserve(states_.size());
    for (State& state : states_) {
      std::vector<std::int64_t> shape = {kBlockNodes};
      shape.insert(shape.end(), state.row_shape.begin(), state.row_shape.end());
      places.push_back(
          state.width() == 0
              ? torch::empty(shape)
              : torch::from_blob(state.values.data() + first * state.width(), shape));
    }
    return places;
  }

  arrow::Result<torch::Tensor> Features(std::int64_t block_nodes, NodeId first,
                                        NodeId count, const Snapshot& snapshot) const {
    if (shape_.features == 0) return torch::Tensor();
    torch::Tensor features = torch::zeros({block_nodes, shape_.features});
    ARROW_RETURN_NOT_OK(snapshot.features(first, count, features.data_ptr<float>()));
    return features;
  }

  void Keep(const torch::Tensor& logits, NodeId first, NodeId count,
            const Snapshot& snapshot) const {
    const torch::Tensor shares = torch::softmax(logits, 1).contiguous();
    const auto num_classes = static_cast<std::int64_t>(shape_.num_classes);
    std::copy_n(shares.const_data_ptr<float>(), count * num_classes,
                snapshot.probabilities + first * num_classes);
  }

  ModelConfig config_;
  NetworkShape shape_;
  std::shared_ptr<Network> network_;
  NodeId num_nodes_;
  std::vector<State> states_;
};

}  // namespace

bool KeepsHistory(const ModelConfig& config) {
  return config.options.model == ModelKind::kCodenA && !config.ChannelGroups().empty();
}

std::int64_t NodeStates::State::width() const {
  return std::accumulate(row_shape.begin(), row_shape.end(), std::int64_t{1},
                         std::multiplies<>());
}

std::int64_t NodeStates::BytesPerNode(const ModelConfig& config) {
  if (KeepsHistory(config)) return 0;
  const Network network(ShapeOf(config), config.options);
  std::int64_t bytes = 0;
  for (const torch::Tensor& state : network.StartStates(1))
    bytes += static_cast<std::int64_t>(state.nbytes());
  return bytes;
}

arrow::Result<std::unique_ptr<NodeStates>> NodeStates::Make(const SavedModel& model,
                                                            NodeId num_nodes,
                                                            const std::string& shown) {
  auto states = std::make_unique<TorchNodeStates>(model, num_nodes);
  ARROW_RETURN_NOT_OK(states->Start(model, shown));
  return states;
}

}  // namespace coden
