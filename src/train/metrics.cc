#include <cmath>
#include <limits>

#include "train/metrics_internal.h"

namespace coden {

namespace {

// Every node has one class and gets one, so Micro-F1 is the share of right answers.
struct Accuracy {
  std::int64_t num_right = 0;
  std::int64_t num_nodes = 0;

  void Add(bool right) {
    num_right += right;
    ++num_nodes;
  }
  double value() const {
    if (num_nodes == 0) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(num_right) / static_cast<double>(num_nodes);
  }
};

// Per class: how often it was right, wanted and given.
class ClassCounts {
 public:
  explicit ClassCounts(int num_classes)
      : right_(num_classes), wanted_(num_classes), given_(num_classes) {}

  void Add(std::int32_t label, std::int32_t predicted) {
    right_[label] += label == predicted;
    ++wanted_[label];
    ++given_[predicted];
  }

  double MacroF1() const {
    double sum = 0.0;
    int num_seen = 0;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i] == 0) continue;
      sum += 2.0 * static_cast<double>(right_[i]) /
             static_cast<double>(wanted_[i] + given_[i]);
      ++num_seen;
    }
    return sum / num_seen;  // NaN where no class was seen
  }

 private:
  std::vector<std::int64_t> right_, wanted_, given_;
};

PredictionMetrics ScoreOne(const TrainingData& data, std::span<const Part> split,
                           const PairScores& scores, std::int64_t k) {
  Accuracy test, test_and_absent, validate;
  ClassCounts classes(data.num_classes);
  double loss = 0.0;
  std::int64_t num_losses = 0;  // of classes that the model knows
  for (std::int64_t node = 0; node < data.num_nodes; ++node) {
    const std::int64_t pair = node * data.num_predictions() + k;
    const std::int32_t label = data.labels[pair];
    const bool scored = split[node] == Part::kValidate || split[node] == Part::kTest;
    if (label < 0 || !scored) continue;
    const bool right = scores.predicted[pair] == label;
    const bool present = data.present[pair] != 0;
    if (split[node] == Part::kValidate) {
      if (present) validate.Add(right);
      continue;
    }
    test_and_absent.Add(right);
    if (!present) continue;
    test.Add(right);
    classes.Add(label, scores.predicted[pair]);
    if (std::isnan(scores.loss[pair])) continue;
    loss += scores.loss[pair];
    ++num_losses;
  }
  PredictionMetrics metrics;
  metrics.prediction = data.predictions[k].prediction;
  metrics.time = data.predictions[k].time;
  metrics.test_nodes = test.num_nodes;
  metrics.absent_nodes = test_and_absent.num_nodes - test.num_nodes;
  metrics.micro_f1 = test.value();
  metrics.micro_f1_all = test_and_absent.value();
  metrics.macro_f1 = classes.MacroF1();
  metrics.validate_micro_f1 = validate.value();
  metrics.loss = loss / static_cast<double>(num_losses);
  return metrics;
}

// Whether some model predicts time `k`: with the rolling protocol none does the first.
bool IsPredicted(const TrainingData& data, const PairScores& scores, std::int64_t k) {
  bool labelled = false;
  for (std::int64_t node = 0; node < data.num_nodes; ++node) {
    const std::int64_t pair = node * data.num_predictions() + k;
    if (scores.predicted[pair] >= 0) return true;
    labelled = labelled || data.labels[pair] >= 0;
  }
  return !labelled;
}

}  // namespace

std::vector<PredictionMetrics> ScorePredictions(const TrainingData& data,
                                                std::span<const Part> split,
                                                const PairScores& scores) {
  std::vector<PredictionMetrics> metrics;
  for (std::int64_t k = 0; k < data.num_predictions(); ++k) {
    if (IsPredicted(data, scores, k)) metrics.push_back(ScoreOne(data, split, scores, k));
  }
  return metrics;
}

double AverageMicroF1(std::span<const PredictionMetrics> metrics) {
  double sum = 0.0;
  int num_scored = 0;
  for (const PredictionMetrics& one : metrics) {
    if (one.test_nodes == 0) continue;
    sum += one.micro_f1;
    ++num_scored;
  }
  return sum / num_scored;
}

}  // namespace coden
