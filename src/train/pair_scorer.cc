#include "train/pair_scorer_internal.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>

#include "base/random_internal.h"
#include "train/rank_sum_internal.h"

namespace coden {

void UseOneTorchThread() {
  thread_local bool done = false;
  if (!done) at::set_num_threads(1);
  done = true;
}

Times::Times(const TrainingData& data, std::vector<std::int64_t> chosen)
    : predictions(std::move(chosen)) {
  snapshots.reserve(predictions.size());
  for (const std::int64_t k : predictions)
    snapshots.push_back(data.predictions[k].snapshot);
}

NetworkShape ShapeOf(const ModelView& view) {
  return {view.groups(), view.data().features.width, view.num_classes(),
          view.start_channel()};
}

PairScorer::PairScorer(const ModelView& view, std::size_t batch, int num_threads,
                       const RunContext& context, RankGroup* ranks)
    : view_(view),
      data_(view.data()),
      batch_(batch),
      num_threads_(num_threads),
      context_(context),
      ranks_(ranks),
      arena_(num_threads) {}

ScoredPairs PairScorer::Forward(Network& network, Nodes chunk, float* gathered,
                                std::int64_t num_snapshots, const Times& times,
                                const torch::Tensor& prepared, bool absent_too,
                                std::uint64_t dropout_seed) const {
  UseOneTorchThread();
  ScoredPairs pairs;
  std::vector<std::int64_t> labels;
  const auto num_times = static_cast<std::int64_t>(times.predictions.size());
  pairs.index.reserve(chunk.size() * times.predictions.size());
  labels.reserve(pairs.index.capacity());
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    for (std::int64_t k = 0; k < num_times; ++k) {
      const std::int64_t pair = chunk[i] * data_.num_predictions() + times.predictions[k];
      if (absent_too ? data_.labels[pair] < 0 : !data_.Counts(pair)) continue;
      pairs.index.push_back(static_cast<std::int64_t>(i) * num_times + k);
      labels.push_back(view_.OutputOf(data_.labels[pair]));
    }
  }
  pairs.labels = torch::tensor(labels, torch::kInt64);
  if (pairs.index.empty()) {
    pairs.logits = torch::zeros({0, view_.num_classes()});
    return pairs;
  }
  SplitMix64 random(dropout_seed);
  const torch::Tensor history = torch::from_blob(
      gathered,
      {static_cast<std::int64_t>(chunk.size()), view_.num_channels(), num_snapshots});
  pairs.logits =
      network.Forward(history, times.snapshots, prepared, Features(chunk, times),
                      torch::tensor(pairs.index, torch::kInt64), random);
  return pairs;
}

// [nodes, versions, features]
torch::Tensor PairScorer::Features(Nodes chunk, const Times& times) const {
  const NodeFeatureRows& features = data_.features;
  if (features.width == 0) return {};
  const torch::Tensor nodes = torch::tensor(
      at::ArrayRef<std::int64_t>(chunk.data(), chunk.size()), torch::kInt64);
  // from_blob takes no const pointer; the values are only read.
  const torch::Tensor rows =
      torch::from_blob(const_cast<float*>(features.values.data()),
                       {data_.num_nodes, features.versions, features.width})
          .index_select(0, nodes);
  if (features.versions == 1) return rows;
  return rows.index_select(1, torch::tensor(times.predictions, torch::kInt64));
}

arrow::Result<double> PairScorer::MicroF1(Network& network, const Times& times,
                                          Nodes nodes) {
  network.eval();
  torch::NoGradGuard no_gradients;
  const torch::Tensor prepared = network.Prepare(times.snapshots);
  ChunkPlan plan = MakePlan(nodes, times.snapshots.back());
  std::atomic<std::int64_t> num_right = 0;
  std::atomic<std::int64_t> num_pairs = 0;
  for (const ChunkPlan::Batch& batch : plan.batches()) {
    ARROW_RETURN_NOT_OK(context_.stop.Poll());
    ARROW_RETURN_NOT_OK(plan.ForEachChunk(
        arena_, batch.end, [&](Nodes chunk, float* gathered, std::size_t) {
          torch::NoGradGuard none_here_either;
          const ScoredPairs pairs =
              Forward(network, chunk, gathered, plan.num_snapshots(), times, prepared,
                      /*absent_too=*/false, /*dropout_seed=*/0);
          num_right +=
              pairs.logits.argmax(1).eq(pairs.labels).sum().template item<std::int64_t>();
          num_pairs += pairs.labels.size(0);
        }));
  }
  std::int64_t counts[] = {num_right, num_pairs};
  ARROW_RETURN_NOT_OK(SumCounts(ranks_, counts));
  return static_cast<double>(counts[0]) / static_cast<double>(counts[1]);
}

arrow::Status PairScorer::Predict(Network& network, const Times& times,
                                  PairScores& scores) {
  network.eval();
  torch::NoGradGuard no_gradients;
  // Products of matrices round by their shape, so nodes that do not count yet must not
  // share a chunk with those that do: nothing that is known only later may change a bit.
  std::vector<std::int64_t> counted, others;
  for (std::int64_t node = 0; node < data_.num_nodes; ++node) {
    const auto any = [&](const auto& holds) {
      return std::any_of(
          times.predictions.begin(), times.predictions.end(),
          [&](std::int64_t k) { return holds(node * data_.num_predictions() + k); });
    };
    if (any([&](std::int64_t pair) { return data_.Counts(pair); })) {
      counted.push_back(node);
    } else if (any([&](std::int64_t pair) { return data_.labels[pair] >= 0; })) {
      others.push_back(node);
    }
  }
  const torch::Tensor prepared = network.Prepare(times.snapshots);
  ARROW_RETURN_NOT_OK(PredictNodes(network, counted, times, prepared, scores));
  return PredictNodes(network, others, times, prepared, scores);
}

arrow::Status PairScorer::PredictNodes(Network& network, Nodes nodes, const Times& times,
                                       const torch::Tensor& prepared,
                                       PairScores& scores) {
  if (nodes.empty()) return arrow::Status::OK();
  ChunkPlan plan = MakePlan(nodes, times.snapshots.back());
  for (const ChunkPlan::Batch& batch : plan.batches()) {
    ARROW_RETURN_NOT_OK(context_.stop.Poll());
    ARROW_RETURN_NOT_OK(plan.ForEachChunk(
        arena_, batch.end, [&](Nodes chunk, float* gathered, std::size_t) {
          torch::NoGradGuard none_here_either;
          Keep(chunk, times,
               Forward(network, chunk, gathered, plan.num_snapshots(), times, prepared,
                       /*absent_too=*/true, /*dropout_seed=*/0),
               scores);
        }));
  }
  return CollectScores(nodes, times, scores);
}

// Bring what the other ranks have filled in to rank 0.
arrow::Status PairScorer::CollectScores(Nodes nodes, const Times& times,
                                        PairScores& scores) const {
  if (ranks_ == nullptr) return arrow::Status::OK();
  const std::size_t chunk_nodes =
      ChunkNodes(view_.num_channels(), times.snapshots.back() + 1);
  for (int rank = 1; rank < ranks_->size(); ++rank) {
    if (ranks_->rank() != 0 && ranks_->rank() != rank) continue;
    std::vector<std::int64_t> pairs;
    for (const DealtBatch& batch :
         DealBatches(nodes, batch_, chunk_nodes, {rank, ranks_->size()})) {
      for (const std::int64_t node : batch.nodes) {
        for (const std::int64_t k : times.predictions)
          pairs.push_back(node * data_.num_predictions() + k);
      }
    }
    const auto collect = [&](auto& all) -> arrow::Status {
      auto part = std::vector<std::decay_t<decltype(all.front())>>(pairs.size());
      if (ranks_->rank() == rank) {
        for (std::size_t i = 0; i < pairs.size(); ++i) part[i] = all[pairs[i]];
        return ranks_->Send(std::as_bytes(std::span(part)), 0);
      }
      ARROW_RETURN_NOT_OK(ranks_->Receive(std::as_writable_bytes(std::span(part)), rank));
      for (std::size_t i = 0; i < pairs.size(); ++i) all[pairs[i]] = part[i];
      return arrow::Status::OK();
    };
    ARROW_RETURN_NOT_OK(collect(scores.predicted));
    ARROW_RETURN_NOT_OK(collect(scores.probability));
    ARROW_RETURN_NOT_OK(collect(scores.loss));
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<float>> PairScorer::Represent(Network& network,
                                                        std::int64_t prediction) {
  network.eval();
  torch::NoGradGuard no_gradients;
  const Times time(data_, {prediction});
  std::vector<std::int64_t> nodes(static_cast<std::size_t>(data_.num_nodes));
  std::iota(nodes.begin(), nodes.end(), std::int64_t{0});
  const auto width = static_cast<std::size_t>(view_.num_channels());
  std::vector<float> rows(nodes.size() * width);
  const torch::Tensor prepared = network.Prepare(time.snapshots);
  ChunkPlan plan = MakePlan(nodes, time.snapshots.back());
  for (const ChunkPlan::Batch& batch : plan.batches()) {
    ARROW_RETURN_NOT_OK(context_.stop.Poll());
    ARROW_RETURN_NOT_OK(plan.ForEachChunk(
        arena_, batch.end, [&](Nodes chunk, float* gathered, std::size_t) {
          torch::NoGradGuard none_here_either;
          UseOneTorchThread();
          const torch::Tensor history =
              torch::from_blob(gathered, {static_cast<std::int64_t>(chunk.size()),
                                          view_.num_channels(), plan.num_snapshots()});
          const torch::Tensor known =
              network.Represent(history, time.snapshots, prepared).contiguous();
          for (std::size_t i = 0; i < chunk.size(); ++i) {
            std::copy_n(known.const_data_ptr<float>() + i * width, width,
                        rows.data() + static_cast<std::size_t>(chunk[i]) * width);
          }
        }));
  }
  return rows;
}

void PairScorer::Keep(Nodes chunk, const Times& times, const ScoredPairs& pairs,
                      PairScores& scores) const {
  const torch::Tensor log_odds = torch::log_softmax(pairs.logits, 1);
  const auto [best, predicted] = log_odds.max(1);
  const torch::Tensor probability = best.exp();
  const torch::Tensor known = pairs.labels.clamp_min(0).unsqueeze(1);
  const torch::Tensor loss = -log_odds.gather(1, known).squeeze(1);
  const std::size_t num_times = times.predictions.size();
  for (std::size_t row = 0; row < pairs.index.size(); ++row) {
    const auto at = static_cast<std::size_t>(pairs.index[row]);
    const std::int64_t pair = chunk[at / num_times] * data_.num_predictions() +
                              times.predictions[at % num_times];
    scores.predicted[pair] =
        view_.classes()[predicted.const_data_ptr<std::int64_t>()[row]];
    scores.probability[pair] = probability.const_data_ptr<float>()[row];
    scores.loss[pair] = pairs.labels.const_data_ptr<std::int64_t>()[row] < 0
                            ? std::numeric_limits<float>::quiet_NaN()
                            : loss.const_data_ptr<float>()[row];
  }
}

}  // namespace coden
