#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coden/base/types.h"

namespace coden {

enum class ModelKind {
  kCoden,   ///< a diagonal state-space model per channel, over the snapshots
  kCodenS,  ///< no temporal part: the current snapshot alone
  kCodenR,  ///< a gated average per channel
  kCodenA,  ///< attention of a node over its own snapshots
};

/// Where the gate of coden-r comes from.
enum class GateKind {
  kChannel,  ///< one number per channel
  kInput,    ///< linear in the snapshot that comes in
};

/// Which prediction times a model learns from, and which it predicts.
enum class Protocol {
  kShared,   ///< one model learns from and predicts all times
  kEach,     ///< at every time a model learns from that time and predicts it
  kRolling,  ///< at every time a model learns from the times so far and predicts the next
};

enum class SplitKind {
  kSeed,  ///< at random
  kTime,  ///< by first event: nodes that came early train, those that came late test
  kFile,  ///< as `input.split` says
};

enum class RateSchedule { kConstant, kCosine };

enum class ClassWeights { kNone, kBalanced };

/// Shares of the labelled nodes that train, validate and test.
struct SplitShares {
  double train = 0.7;
  double validate = 0.1;
  double test = 0.2;
};

/// What a model reads of a node.
struct ModelInputs {
  bool embedding = true;  ///< the rows of the snapshots
  bool features = false;  ///< the node's own feature vector beside them
};

struct TrainOptions {
  ModelKind model = ModelKind::kCoden;
  GateKind gate = GateKind::kChannel;
  ModelInputs inputs;
  std::vector<double> averages;  ///< poles of exponential averages of the inputs
  int label_columns = 0;         ///< folds
  std::vector<double> label_alphas;
  std::vector<EventTime> label_windows;
  int states = 16;
  int hidden = 512;
  int layers = 2;
  Protocol protocol = Protocol::kEach;
  bool warm_start = true;
  int epochs = 100;
  int warm_epochs = 20;
  double learning_rate = 1e-3;
  RateSchedule rate_schedule = RateSchedule::kConstant;
  int batch = 1024;
  int times_per_step = 0;
  double dropout = 0.5;
  double weight_decay = 0.0;
  double label_smoothing = 0.0;
  double orthogonality = 0.0;
  ClassWeights class_weights = ClassWeights::kNone;
  int patience = 20;
  SplitShares split;
  SplitKind split_by = SplitKind::kSeed;
  int runs = 1;
  bool energy = false;

  /// Epochs of a model, at most; `warm` where it begins with the weights of another.
  int NumEpochs(bool warm) const {
    return warm && warm_epochs > 0 && warm_epochs < epochs ? warm_epochs : epochs;
  }
};

}  // namespace coden
