#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

// What training gives, without any LibTorch type, so that the files which read and write
// Arrow do not pay for its headers.

namespace coden {

struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

struct EpochRecord {
  int lesson = 0;  ///< which model of the protocol
  int epoch = 0;   ///< from 1
  double loss = 0.0;
  double validate_micro_f1 = 0.0;
  double seconds = 0.0;
};

/// What a model says of every pair of a node and a prediction time that has a label;
/// [nodes, predictions], and -1, 0, 0 where there is no label, or no model predicts. The
/// loss is NaN where the model does not know the class.
struct PairScores {
  std::vector<std::int32_t> predicted;
  std::vector<float> probability;  ///< of the predicted class
  std::vector<float> loss;         ///< cross-entropy
};

/// The best epoch of a lesson: the first with the highest validation score.
struct BestEpoch {
  /// 0: the weights that the lesson started with; -1: there was nothing to learn from.
  int epoch = -1;
  double validate_micro_f1 = std::numeric_limits<double>::quiet_NaN();
  std::vector<NamedTensor> weights;
};

/// All that a training has come to after some epoch: it goes on from here with the same
/// result. Also what a finished one leaves, with `lesson` behind the last.
struct TrainerMemory {
  int lesson = 0;              ///< which one is being learnt
  int epoch = 0;               ///< epochs of it that are done
  std::int64_t num_steps = 0;  ///< of the optimizer, in this lesson
  std::uint64_t random = 0;    ///< state of the generator
  std::vector<NamedTensor> weights;
  std::vector<NamedTensor> first_moments;  ///< Adam's, by parameter
  std::vector<NamedTensor> second_moments;
  std::vector<BestEpoch> best;      ///< by lesson, as far as it has come
  std::vector<EpochRecord> epochs;  ///< of all lessons
};

struct TrainedModel {
  TrainerMemory memory;
  std::vector<std::vector<std::int32_t>> classes;  ///< by lesson (KnownClasses)
  PairScores scores;

  /// The model that goes on predicting: that of the last lesson.
  const BestEpoch& latest() const { return memory.best.back(); }
};

}  // namespace coden
