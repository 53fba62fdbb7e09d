#include "train/trainer_internal.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>

#include <ATen/Context.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <torch/torch.h>

#include "pipeline/random_internal.h"
#include "train/network_internal.h"

namespace coden {

namespace {

// The order of mini-batches must not follow from the split, which uses the seed itself.
constexpr std::uint64_t kBatchOrderStream = 0x62617463686573u;

// LibTorch's own threads are not used: OpenMP's spin at every operation, which is ruinous
// on a busy machine, and they would make results depend on their number.
void UseOneTorchThread() {
  thread_local bool done = false;
  if (!done) at::set_num_threads(1);
  done = true;
}

class Trainer {
 public:
  Trainer(const TrainingData& data, const TrainOptions& options, std::uint64_t seed,
          int threads, const RunContext& context)
      : data_(data),
        options_(options),
        context_(context),
        arena_(threads > 0 ? threads : tbb::task_arena::automatic),
        random_(seed ^ kBatchOrderStream),
        network_(data, options),
        optimizer_(network_.MakeOptimizer(options)) {
    // from_blob takes no const pointer, but nothing here writes to these tensors.
    history_ = torch::from_blob(const_cast<float*>(data.history.data()),
                                {data.num_nodes, data.num_channels, data.num_snapshots});
    const std::vector<std::int64_t> pairs = {data.num_nodes, data.num_predictions()};
    labels_ = torch::from_blob(const_cast<std::int32_t*>(data.labels.data()), pairs,
                               torch::kInt32)
                  .to(torch::kInt64);
    labelled_ = labels_ >= 0;
    present_ = torch::from_blob(const_cast<std::uint8_t*>(data.present.data()), pairs,
                                torch::kUInt8)
                   .to(torch::kBool);
    present_ &= labelled_;
    const torch::Tensor counts = present_.sum(1);
    const std::int64_t* count = counts.const_data_ptr<std::int64_t>();
    num_present_.assign(count, count + data.num_nodes);
  }

  arrow::Result<TrainedModel> Run(
      std::span<const Part> split,
      const std::function<void(const EpochRecord&)>& on_epoch) {
    std::vector<std::int64_t> train_nodes = UsableNodes(split, Part::kTrain);
    const std::vector<std::int64_t> validate_nodes = UsableNodes(split, Part::kValidate);
    TrainedModel model;
    std::vector<torch::Tensor> best_weights;
    for (int epoch = 1; epoch <= options_.epochs; ++epoch) {
      const auto start = std::chrono::steady_clock::now();
      EpochRecord record;
      record.epoch = epoch;
      ARROW_ASSIGN_OR_RAISE(record.loss, TrainEpoch(train_nodes, epoch));
      ARROW_ASSIGN_OR_RAISE(record.validate_micro_f1, MicroF1(validate_nodes));
      record.seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      model.epochs.push_back(record);
      on_epoch(record);
      if (model.best_epoch == 0 || record.validate_micro_f1 > model.validate_micro_f1) {
        model.best_epoch = epoch;
        model.validate_micro_f1 = record.validate_micro_f1;
        best_weights = network_.CopyWeights();
      } else if (options_.patience > 0 && epoch - model.best_epoch >= options_.patience) {
        break;
      }
    }
    network_.RestoreWeights(best_weights);
    ARROW_ASSIGN_OR_RAISE(model.scores, Predict());
    model.weights = network_.ExportWeights();
    return model;
  }

 private:
  // The pairs of a chunk of nodes that count, and what is known of them.
  struct Rows {
    torch::Tensor index;   // into the flattened [nodes, predictions]
    torch::Tensor labels;  // classes
    torch::Tensor logits;
  };

  Rows Forward(std::span<const std::int64_t> chunk, const torch::Tensor& wanted,
               std::uint64_t dropout_seed) {
    const torch::Tensor nodes = torch::tensor(
        at::ArrayRef<std::int64_t>(chunk.data(), chunk.size()), torch::kInt64);
    SplitMix64 random(dropout_seed);
    Rows rows;
    rows.index = wanted.index_select(0, nodes).flatten().nonzero().flatten();
    rows.labels = labels_.index_select(0, nodes).flatten().index_select(0, rows.index);
    torch::Tensor& history = chunk_history_.local();
    history.resize_({nodes.size(0), data_.num_channels, data_.num_snapshots});
    torch::index_select_out(history, history_, 0, nodes);
    rows.logits = network_.Forward(history, rows.index, random);
    return rows;
  }

  // Call `visit(chunk, number)` for all chunks of `nodes`, in parallel and in any order.
  // What LibTorch throws in there, TBB hands on to the caller.
  template <typename Visit>
  void ForEachChunk(std::span<const std::int64_t> nodes, const Visit& visit) {
    const std::size_t num_chunks = (nodes.size() + kChunkNodes - 1) / kChunkNodes;
    arena_.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::size_t>(0, num_chunks),
          [&](const tbb::blocked_range<std::size_t>& range) {
            UseOneTorchThread();
            for (std::size_t chunk = range.begin(); chunk < range.end(); ++chunk) {
              const std::size_t begin = chunk * kChunkNodes;
              visit(nodes.subspan(begin, std::min(kChunkNodes, nodes.size() - begin)),
                    chunk);
            }
          },
          tbb::simple_partitioner());
    });
  }

  // Call `visit(batch)` for every mini-batch of `nodes`, in their order.
  template <typename Visit>
  arrow::Status ForEachBatch(std::span<const std::int64_t> nodes, const Visit& visit) {
    const auto batch = static_cast<std::size_t>(options_.batch);
    for (std::size_t begin = 0; begin < nodes.size(); begin += batch) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      ARROW_RETURN_NOT_OK(
          visit(nodes.subspan(begin, std::min(batch, nodes.size() - begin))));
    }
    return arrow::Status::OK();
  }

  // One step of the optimizer. Returns the sum of the cross-entropy over the pairs.
  double Step(std::span<const std::int64_t> batch, std::int64_t num_pairs) {
    struct Part {
      double loss = 0.0;
      std::vector<torch::Tensor> gradients;
    };
    std::vector<torch::Tensor> parameters = network_.parameters();
    std::vector<Part> parts((batch.size() + kChunkNodes - 1) / kChunkNodes);
    const std::uint64_t dropout_seed = random_.Next();
    ForEachChunk(batch, [&](std::span<const std::int64_t> nodes, std::size_t chunk) {
      const Rows rows = Forward(nodes, present_, dropout_seed + chunk);
      const torch::Tensor loss = torch::cross_entropy_loss(
          rows.logits, rows.labels, /*weight=*/{}, at::Reduction::Sum);
      parts[chunk].loss = loss.item<double>();
      parts[chunk].gradients =
          torch::autograd::grad({loss / static_cast<double>(num_pairs)}, parameters);
    });
    // Added up in the order of the chunks, so that threads do not change the result.
    double loss_sum = 0.0;
    for (const Part& part : parts) {
      loss_sum += part.loss;
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        torch::Tensor& gradient = parameters[i].mutable_grad();
        if (&part == &parts.front()) {
          gradient = part.gradients[i];
        } else {
          gradient.add_(part.gradients[i]);
        }
      }
    }
    if (std::isfinite(loss_sum)) optimizer_.step();
    return loss_sum;
  }

  arrow::Result<double> TrainEpoch(std::vector<std::int64_t>& nodes, int epoch) {
    network_.train();
    Shuffle(nodes, random_);
    double loss_sum = 0.0;
    std::int64_t num_pairs = 0;
    ARROW_RETURN_NOT_OK(ForEachBatch(nodes, [&](std::span<const std::int64_t> batch) {
      ++num_steps_;
      std::int64_t num_batch_pairs = 0;
      for (const std::int64_t node : batch) num_batch_pairs += num_present_[node];
      const double loss = Step(batch, num_batch_pairs);
      if (!std::isfinite(loss)) return NotFinite(epoch);
      loss_sum += loss;
      num_pairs += num_batch_pairs;
      return arrow::Status::OK();
    }));
    return loss_sum / static_cast<double>(num_pairs);
  }

  arrow::Status NotFinite(int epoch) const {
    char rate[32];
    std::snprintf(rate, sizeof(rate), "%g", options_.learning_rate);
    return arrow::Status::ExecutionError(
        "the training loss is not finite; the steps are probably too long: lower "
        "`train.learning_rate`: ",
        rate, " at epoch ", epoch, ", step ", num_steps_);
  }

  arrow::Result<double> MicroF1(std::span<const std::int64_t> nodes) {
    network_.eval();
    std::atomic<std::int64_t> num_right = 0;
    std::atomic<std::int64_t> num_pairs = 0;
    ARROW_RETURN_NOT_OK(ForEachBatch(nodes, [&](std::span<const std::int64_t> batch) {
      ForEachChunk(batch, [&](std::span<const std::int64_t> chunk, std::size_t) {
        torch::NoGradGuard no_gradients;
        const Rows rows = Forward(chunk, present_, /*dropout_seed=*/0);
        num_right += rows.logits.argmax(1).eq(rows.labels).sum().item<std::int64_t>();
        num_pairs += rows.labels.size(0);
      });
      return arrow::Status::OK();
    }));
    return static_cast<double>(num_right) / static_cast<double>(num_pairs);
  }

  arrow::Result<PairScores> Predict() {
    network_.eval();
    std::vector<std::int64_t> nodes(static_cast<std::size_t>(data_.num_nodes));
    std::iota(nodes.begin(), nodes.end(), std::int64_t{0});
    const std::size_t num_pairs = data_.labels.size();
    PairScores scores{std::vector<std::int32_t>(num_pairs, -1),
                      std::vector<float>(num_pairs), std::vector<float>(num_pairs)};
    ARROW_RETURN_NOT_OK(ForEachBatch(nodes, [&](std::span<const std::int64_t> batch) {
      ForEachChunk(batch, [&](std::span<const std::int64_t> chunk, std::size_t) {
        PredictChunk(chunk, scores);
      });
      return arrow::Status::OK();
    }));
    return scores;
  }

  // `chunk` is a run of consecutive nodes.
  void PredictChunk(std::span<const std::int64_t> chunk, PairScores& scores) {
    torch::NoGradGuard no_gradients;
    const Rows rows = Forward(chunk, labelled_, /*dropout_seed=*/0);
    const torch::Tensor log_odds = torch::log_softmax(rows.logits, 1);
    const auto [best, predicted] = log_odds.max(1);
    const torch::Tensor probability = best.exp();
    const torch::Tensor loss = -log_odds.gather(1, rows.labels.unsqueeze(1)).squeeze(1);
    const std::int64_t first_pair = chunk.front() * data_.num_predictions();
    for (std::int64_t row = 0; row < rows.index.size(0); ++row) {
      const std::int64_t pair =
          first_pair + rows.index.const_data_ptr<std::int64_t>()[row];
      scores.predicted[pair] =
          static_cast<std::int32_t>(predicted.const_data_ptr<std::int64_t>()[row]);
      scores.probability[pair] = probability.const_data_ptr<float>()[row];
      scores.loss[pair] = loss.const_data_ptr<float>()[row];
    }
  }

  // Nodes of `part` with a pair that counts; the others would only cost time.
  std::vector<std::int64_t> UsableNodes(std::span<const Part> split, Part part) const {
    std::vector<std::int64_t> nodes = NodesOf(split, part);
    std::erase_if(nodes, [&](std::int64_t node) { return num_present_[node] == 0; });
    return nodes;
  }

  const TrainingData& data_;
  const TrainOptions& options_;
  const RunContext& context_;
  tbb::task_arena arena_;
  SplitMix64 random_;
  Network network_;
  torch::optim::AdamW optimizer_;
  torch::Tensor history_;
  // The history of the chunk that a thread works on. It is the largest tensor by far, and
  // taking it from the system anew costs more than filling it.
  tbb::enumerable_thread_specific<torch::Tensor> chunk_history_{
      [] { return torch::empty({0}); }};
  torch::Tensor labels_;    // [nodes, predictions]
  torch::Tensor labelled_;  // [nodes, predictions]: a label is known
  torch::Tensor present_;   // [nodes, predictions]: and the node had an event
  std::vector<std::int64_t> num_present_;  // pairs that count, by node
  std::int64_t num_steps_ = 0;
};

}  // namespace

arrow::Result<TrainedModel> TrainModel(
    const TrainingData& data, std::span<const Part> split, const TrainOptions& options,
    std::uint64_t seed, int threads, const RunContext& context,
    const std::function<void(const EpochRecord&)>& on_epoch) {
  UseOneTorchThread();
  at::globalContext().setDeterministicAlgorithms(/*b=*/true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  torch::manual_seed(seed);
  Trainer trainer(data, options, seed, threads, context);
  return trainer.Run(split, on_epoch);
}

}  // namespace coden
