#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>
#include <torch/torch.h>

#include "coden/base/progress.h"
#include "coden/train/rank_group.h"
#include "train/chunk_plan_internal.h"
#include "train/model_view_internal.h"
#include "train/network_internal.h"

namespace coden {

/// Let LibTorch work on the calling thread alone. OpenMP's threads spin at every
/// operation, which is ruinous on a busy machine, and would make results depend on their
/// number.
void UseOneTorchThread();

/// Some prediction times, ascending, and their snapshots.
struct Times {
  Times(const TrainingData& data, std::vector<std::int64_t> chosen);

  std::vector<std::int64_t> predictions;
  std::vector<std::int64_t> snapshots;
};

/// What a network for `view` reads and gives.
NetworkShape ShapeOf(const ModelView& view);

/// Pairs of a chunk of nodes and their scores.
struct ScoredPairs {
  std::vector<std::int64_t> index;  ///< into the flattened [nodes, times]
  torch::Tensor labels;             ///< outputs; -1: a class the model does not know
  torch::Tensor logits;
};

/// Apply a network to pairs of a node and a prediction time.
///
/// With `ranks` each of them works on its own chunks, and all make the same calls. The
/// results are those of one process.
class PairScorer {
 public:
  /// `view` must outlive the scorer.
  PairScorer(const ModelView& view, std::size_t batch, int num_threads,
             const RunContext& context, RankGroup* ranks = nullptr);

  tbb::task_arena& arena() { return arena_; }
  ChunkPlan MakePlan(Nodes nodes, std::int64_t last_snapshot) const {
    return {view_, nodes, batch_, last_snapshot + 1, num_threads_, share()};
  }

  /// Score the pairs of `chunk` that count or, where `absent_too` says so, all that have
  /// a label. `prepared` is Network::Prepare of the times' snapshots. May be called from
  /// many threads.
  ScoredPairs Forward(Network& network, Nodes chunk, float* gathered,
                      std::int64_t num_snapshots, const Times& times,
                      const torch::Tensor& prepared, bool absent_too,
                      std::uint64_t dropout_seed) const;

  /// The share of right answers over the pairs of `nodes` that count; NaN where none
  /// does.
  arrow::Result<double> MicroF1(Network& network, const Times& times, Nodes nodes);

  /// Fill in `scores` for every labelled pair of the times. Of several ranks only rank 0
  /// has them all.
  arrow::Status Predict(Network& network, const Times& times, PairScores& scores);

  /// What the temporal part of a network knows of all nodes at one prediction time, row
  /// by row. Not for several ranks.
  arrow::Result<std::vector<float>> Represent(Network& network, std::int64_t prediction);

 private:
  RankShare share() const {
    return ranks_ == nullptr ? RankShare{} : RankShare{ranks_->rank(), ranks_->size()};
  }
  arrow::Status PredictNodes(Network& network, Nodes nodes, const Times& times,
                             const torch::Tensor& prepared, PairScores& scores);
  arrow::Status CollectScores(Nodes nodes, const Times& times, PairScores& scores) const;
  torch::Tensor Features(Nodes chunk, const Times& times) const;
  void Keep(Nodes chunk, const Times& times, const ScoredPairs& pairs,
            PairScores& scores) const;

  const ModelView& view_;
  const TrainingData& data_;
  const std::size_t batch_;
  const int num_threads_;
  const RunContext& context_;
  RankGroup* const ranks_;
  tbb::task_arena arena_;
};

}  // namespace coden
