#include "train/trainer_internal.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include <ATen/Context.h>
#include <torch/torch.h>

#include "train/classifier_internal.h"
#include "train/temporal_model_internal.h"

namespace coden {

namespace {

// The order of mini-batches must not follow from the split, which uses the seed itself.
constexpr std::uint64_t kBatchOrderStream = 0x62617463686573u;

class Network : public torch::nn::Module {
 public:
  Network(const TrainingData& data, const TrainOptions& options) {
    TemporalShape shape{data.num_channels, data.num_snapshots, {}};
    for (const PredictionPoint& point : data.predictions) {
      shape.prediction_snapshots.push_back(point.snapshot);
    }
    temporal = register_module("temporal", MakeTemporalModel(options, shape));
    classifier = register_module(
        "classifier",
        std::make_shared<Classifier>(options, data.num_channels, data.num_classes));
  }

  std::shared_ptr<TemporalModel> temporal;
  std::shared_ptr<Classifier> classifier;
};

// Weights of linear layers decay; biases, the norm and the state-space parameters, whose
// zero means nothing, do not.
torch::optim::AdamW MakeOptimizer(const Network& network, const TrainOptions& options) {
  std::vector<torch::Tensor> decaying;
  std::vector<torch::Tensor> other = network.temporal->parameters();
  for (const torch::Tensor& parameter : network.classifier->parameters()) {
    (parameter.dim() >= 2 ? decaying : other).push_back(parameter);
  }
  const auto group = [&](std::vector<torch::Tensor> parameters, double weight_decay) {
    return torch::optim::OptimizerParamGroup(
        std::move(parameters), std::make_unique<torch::optim::AdamWOptions>(
                                   torch::optim::AdamWOptions(options.learning_rate)
                                       .weight_decay(weight_decay)));
  };
  return torch::optim::AdamW(std::vector<torch::optim::OptimizerParamGroup>{
      group(std::move(decaying), options.weight_decay), group(std::move(other), 0.0)});
}

class Trainer {
 public:
  Trainer(const TrainingData& data, const TrainOptions& options, std::uint64_t seed,
          const RunContext& context)
      : data_(data),
        options_(options),
        context_(context),
        random_(seed ^ kBatchOrderStream),
        network_(data, options),
        optimizer_(MakeOptimizer(network_, options)) {
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
        best_weights = CopyWeights();
      } else if (options_.patience > 0 && epoch - model.best_epoch >= options_.patience) {
        break;
      }
    }
    RestoreWeights(best_weights);
    ARROW_ASSIGN_OR_RAISE(model.scores, Predict());
    model.weights = ExportWeights();
    return model;
  }

 private:
  // The rows of a mini-batch that count, and what is known of them.
  struct Rows {
    torch::Tensor index;   // into the flattened [nodes, predictions]
    torch::Tensor labels;  // classes
    torch::Tensor logits;
  };

  Rows Forward(const torch::Tensor& nodes, const torch::Tensor& wanted) {
    Rows rows;
    rows.index = wanted.index_select(0, nodes).flatten().nonzero().flatten();
    rows.labels = labels_.index_select(0, nodes).flatten().index_select(0, rows.index);
    const torch::Tensor features = network_.temporal->Forward(
        nodes.size(0) == data_.num_nodes ? history_ : history_.index_select(0, nodes));
    rows.logits = network_.classifier->Forward(
        features.reshape({-1, data_.num_channels}).index_select(0, rows.index));
    return rows;
  }

  // Call `visit` with every mini-batch of `nodes`, in their order.
  template <typename Visit>
  arrow::Status ForEachBatch(std::span<const std::int64_t> nodes, Visit visit) const {
    const auto batch = static_cast<std::size_t>(options_.batch);
    for (std::size_t begin = 0; begin < nodes.size(); begin += batch) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      const auto part = nodes.subspan(begin, std::min(batch, nodes.size() - begin));
      ARROW_RETURN_NOT_OK(visit(torch::tensor(
          at::ArrayRef<std::int64_t>(part.data(), part.size()), torch::kInt64)));
    }
    return arrow::Status::OK();
  }

  arrow::Result<double> TrainEpoch(std::vector<std::int64_t>& nodes, int epoch) {
    network_.train();
    Shuffle(nodes, random_);
    double loss_sum = 0.0;
    std::int64_t num_rows = 0;
    ARROW_RETURN_NOT_OK(ForEachBatch(nodes, [&](const torch::Tensor& batch) {
      ++num_steps_;
      optimizer_.zero_grad();
      const Rows rows = Forward(batch, present_);
      const torch::Tensor loss = torch::cross_entropy_loss(rows.logits, rows.labels);
      const double value = loss.item<double>();
      if (!std::isfinite(value)) return NotFinite(epoch);
      loss.backward();
      optimizer_.step();
      loss_sum += value * static_cast<double>(rows.labels.size(0));
      num_rows += rows.labels.size(0);
      return arrow::Status::OK();
    }));
    return loss_sum / static_cast<double>(num_rows);
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
    torch::NoGradGuard no_gradients;
    std::int64_t num_right = 0;
    std::int64_t num_rows = 0;
    ARROW_RETURN_NOT_OK(ForEachBatch(nodes, [&](const torch::Tensor& batch) {
      const Rows rows = Forward(batch, present_);
      num_right += rows.logits.argmax(1).eq(rows.labels).sum().item<std::int64_t>();
      num_rows += rows.labels.size(0);
      return arrow::Status::OK();
    }));
    return static_cast<double>(num_right) / static_cast<double>(num_rows);
  }

  arrow::Result<PairScores> Predict() {
    network_.eval();
    torch::NoGradGuard no_gradients;
    std::vector<std::int64_t> nodes(static_cast<std::size_t>(data_.num_nodes));
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      nodes[node] = static_cast<std::int64_t>(node);
    }
    const std::size_t num_pairs = data_.labels.size();
    PairScores scores{std::vector<std::int32_t>(num_pairs, -1),
                      std::vector<float>(num_pairs), std::vector<float>(num_pairs)};
    std::int64_t first_pair = 0;
    ARROW_RETURN_NOT_OK(ForEachBatch(nodes, [&](const torch::Tensor& batch) {
      const Rows rows = Forward(batch, labelled_);
      const torch::Tensor log_odds = torch::log_softmax(rows.logits, 1);
      const auto [best, predicted] = log_odds.max(1);
      const torch::Tensor probability = best.exp();
      const torch::Tensor loss = -log_odds.gather(1, rows.labels.unsqueeze(1)).squeeze(1);
      const std::int64_t* pair = rows.index.const_data_ptr<std::int64_t>();
      for (std::int64_t row = 0; row < rows.index.size(0); ++row) {
        const std::int64_t at = first_pair + pair[row];
        scores.predicted[at] =
            static_cast<std::int32_t>(predicted.const_data_ptr<std::int64_t>()[row]);
        scores.probability[at] = probability.const_data_ptr<float>()[row];
        scores.loss[at] = loss.const_data_ptr<float>()[row];
      }
      first_pair += batch.size(0) * data_.num_predictions();
      return arrow::Status::OK();
    }));
    return scores;
  }

  // Nodes of `part` with a pair that counts; the others would only cost time.
  std::vector<std::int64_t> UsableNodes(std::span<const Part> split, Part part) const {
    std::vector<std::int64_t> nodes = NodesOf(split, part);
    const torch::Tensor usable = present_.any(1);
    const bool* is_usable = usable.const_data_ptr<bool>();
    std::erase_if(nodes, [&](std::int64_t node) { return !is_usable[node]; });
    return nodes;
  }

  std::vector<torch::Tensor> CopyWeights() const {
    std::vector<torch::Tensor> weights;
    for (const torch::Tensor& parameter : network_.parameters()) {
      weights.push_back(parameter.detach().clone());
    }
    return weights;
  }

  void RestoreWeights(const std::vector<torch::Tensor>& weights) {
    torch::NoGradGuard no_gradients;
    std::vector<torch::Tensor> parameters = network_.parameters();
    for (std::size_t i = 0; i < weights.size(); ++i) parameters[i].copy_(weights[i]);
  }

  std::vector<NamedTensor> ExportWeights() const {
    std::vector<NamedTensor> weights;
    for (const auto& parameter : network_.named_parameters()) {
      const torch::Tensor values = parameter.value().detach().contiguous();
      const float* first = values.const_data_ptr<float>();
      weights.push_back({parameter.key(), values.sizes().vec(),
                         std::vector<float>(first, first + values.numel())});
    }
    return weights;
  }

  const TrainingData& data_;
  const TrainOptions& options_;
  const RunContext& context_;
  SplitMix64 random_;
  Network network_;
  torch::optim::AdamW optimizer_;
  torch::Tensor history_;
  torch::Tensor labels_;    // [nodes, predictions]
  torch::Tensor labelled_;  // [nodes, predictions]: a label is known
  torch::Tensor present_;   // [nodes, predictions]: and the node had an event
  std::int64_t num_steps_ = 0;
};

}  // namespace

void PrepareTorch(int threads) {
  const int num_cores = static_cast<int>(std::thread::hardware_concurrency());
  at::set_num_threads(threads > 0 ? threads : std::max(1, num_cores));
  at::globalContext().setDeterministicAlgorithms(/*b=*/true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

arrow::Result<TrainedModel> TrainModel(
    const TrainingData& data, std::span<const Part> split, const TrainOptions& options,
    std::uint64_t seed, const RunContext& context,
    const std::function<void(const EpochRecord&)>& on_epoch) {
  torch::manual_seed(seed);
  Trainer trainer(data, options, seed, context);
  return trainer.Run(split, on_epoch);
}

}  // namespace coden
