// Predictions of simple methods, beside which every result is shown.
//
// Label propagation is one solve at every prediction time: C columns, one for each class,
// that start with the labels of the training nodes. Columns are independent, so where all
// of them do not fit in memory the classes are taken in groups, one replay of the log for
// each, and a node keeps the best class so far.

#include "train/controls_internal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "coden/base/printable.h"
#include "coden/embed/label_embedder.h"
#include "coden/read/labels.h"
#include "coden/state/committed_run.h"
#include "coden/store/manifest.h"
#include "settings/label_columns_internal.h"
#include "train/label_history_internal.h"

namespace coden {

namespace {

// Smaller values can be the solver's error and say nothing.
constexpr float kLeastMass = 1e-6f;

struct Control {
  const char* key;                            // in metrics and the results table
  const char* name;                           // in a sentence
  double (*score)(const PredictionMetrics&);  // NaN where there is none
};

constexpr std::array<Control, 3> kControls = {
    {{"majority", "the majority class",
      [](const PredictionMetrics& one) { return one.majority_micro_f1; }},
     {"label propagation", "label propagation",
      [](const PredictionMetrics& one) { return one.propagation_micro_f1; }},
     {"last label", "the last known label", [](const PredictionMetrics& one) {
        return one.last_label_micro_f1.value_or(std::numeric_limits<double>::quiet_NaN());
      }}}};

// The mean over the runs of the mean over the prediction times that have test nodes.
template <class Score>
double AverageOf(std::span<const std::vector<PredictionMetrics>> runs, Score score) {
  double sum = 0.0;
  for (const auto& run : runs) {
    double of_run = 0.0;
    int num_times = 0;
    for (const PredictionMetrics& one : run) {
      if (one.test_nodes == 0) continue;
      of_run += score(one);
      ++num_times;
    }
    if (num_times > 0) sum += of_run / num_times;
  }
  return sum / static_cast<double>(runs.size());
}

// The mean over the prediction times of the mean over the runs, of finite scores.
double AverageOverTimes(std::span<const std::vector<PredictionMetrics>> runs,
                        const Control& control) {
  struct Sum {
    double sum = 0.0;
    int count = 0;
  };
  std::map<int, Sum> by_time;
  for (const auto& run : runs) {
    for (const PredictionMetrics& one : run) {
      const double score = control.score(one);
      if (!std::isfinite(score)) continue;
      by_time[one.prediction].sum += score;
      ++by_time[one.prediction].count;
    }
  }
  double sum = 0.0;
  for (const auto& [prediction, scores] : by_time) sum += scores.sum / scores.count;
  return sum / static_cast<double>(by_time.size());
}

// "a", "a or b", "a, b or c".
std::string Alternatives(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

// What could help and is not in use yet.
std::vector<std::string> Advice(const Settings& settings) {
  const TrainOptions& train = settings.train;
  std::vector<std::string> advice;
  if (train.label_columns == 0) {
    advice.emplace_back("`train.label_columns = 5`");
  } else if (ResolveLabelColumns(settings).windows.size() == 1) {
    advice.emplace_back("`train.label_windows` (labels over recent edges)");
  }
  const bool both = train.inputs.embedding && train.inputs.features;
  if (!both && settings.input.random_features == 0)
    advice.emplace_back("`train.inputs = embedding, features`");
  advice.emplace_back("features that say more about the labels");
  return advice;
}

// The class that has reached a pair most, so far.
struct BestClass {
  std::int32_t label = -1;
  float mass = kLeastMass;
};

class LabelPropagation {
 public:
  LabelPropagation(const Settings& settings, const TrainingInput& input,
                   std::span<const Part> split, const RunContext& context)
      : settings_(settings), input_(input), context_(context) {
    for (const SchedulePoint& point : input.snapshots)
      if (point.at_prediction) schedule_.push_back(point);
    folds_.reserve(split.size());
    for (const Part part : split) folds_.push_back(part == Part::kTrain ? 0 : -1);
    best_.resize(input.data.labels.size());
  }

  arrow::Status Run(const RunStore& store) {
    ARROW_ASSIGN_OR_RAISE(const CommittedRun run, CommittedRun::Open(settings_, store));
    ARROW_RETURN_NOT_OK(run.inputs.nodes->Find(*input_.node_ids, &nodes_));
    const int num_classes = input_.data.num_classes;
    const auto group = static_cast<int>(input_.needs.control_classes);
    context_.progress->Begin("controls", "classes", num_classes);
    for (int first = 0; first < num_classes; first += group) {
      ARROW_RETURN_NOT_OK(
          Propagate(run, store, first, std::min(group, num_classes - first)));
      context_.progress->Advance(std::min(first + group, num_classes));
    }
    context_.progress->End("label propagation at " +
                           CountOf(input_.data.num_predictions(), "prediction times"));
    return arrow::Status::OK();
  }

  std::vector<std::int32_t> Predicted(std::span<const std::int32_t> otherwise) const {
    std::vector<std::int32_t> predicted;
    predicted.reserve(best_.size());
    for (std::size_t pair = 0; pair < best_.size(); ++pair) {
      predicted.push_back(best_[pair].label >= 0 ? best_[pair].label
                                                 : otherwise[pair % otherwise.size()]);
    }
    return predicted;
  }

 private:
  LabelEmbedderOptions Options(int num_classes) const {
    LabelEmbedderOptions options;
    options.embed = settings_.embed;
    options.graph = settings_.graph;
    options.alphas = {settings_.embed.alpha};
    options.windows = {settings_.graph.window};
    options.num_folds = 1;
    options.num_classes = num_classes;
    options.stop = context_.stop;
    return options;
  }

  // Let `num_classes` classes from `first` on travel.
  arrow::Status Propagate(const CommittedRun& run, const RunStore& store, int first,
                          int num_classes) {
    std::vector<LabelSeed> seeds = LabelSeeds(input_.facts, nodes_, folds_);
    for (LabelSeed& seed : seeds) {
      const bool ours = seed.label >= first && seed.label < first + num_classes;
      seed.label = ours ? seed.label - first : -1;
    }
    std::unique_ptr<LabelEmbedder> labels;
    LabelEmbedderOptions options = Options(num_classes);
    const auto width = static_cast<std::size_t>(num_classes);
    std::vector<float> rows(nodes_.size() * width);
    std::size_t k = 0;
    options.after_snapshot = [&](const SchedulePoint&) {
      labels->CopyRows(nodes_, rows.data());
      for (std::size_t node = 0; node < nodes_.size(); ++node) {
        BestClass& best = best_[node * schedule_.size() + k];
        for (int label = 0; label < num_classes; ++label) {
          const float mass = rows[node * width + label];
          if (mass > best.mass) best = {first + label, mass};
        }
      }
      ++k;
      return arrow::Status::OK();
    };
    ARROW_ASSIGN_OR_RAISE(auto graphs, run.Graphs(settings_, store, options.windows));
    ARROW_ASSIGN_OR_RAISE(labels,
                          LabelEmbedder::Make(options, schedule_, std::move(seeds),
                                              run.inputs.Times(), std::move(graphs)));
    return labels->Run();
  }

  const Settings& settings_;
  const TrainingInput& input_;
  const RunContext& context_;
  Schedule schedule_;  // prediction times alone
  std::vector<int> folds_;
  std::vector<NodeId> nodes_;  // of the data, in the graph
  std::vector<BestClass> best_;
};

}  // namespace

std::vector<std::int32_t> MajorityClasses(const TrainingData& data,
                                          std::span<const Part> split) {
  std::vector<std::int32_t> majority;
  majority.reserve(data.predictions.size());
  std::vector<std::int64_t> present(static_cast<std::size_t>(data.num_classes));
  std::vector<std::int64_t> all(present.size());
  for (std::int64_t k = 0; k < data.num_predictions(); ++k) {
    std::fill(present.begin(), present.end(), 0);
    std::fill(all.begin(), all.end(), 0);
    for (std::int64_t node = 0; node < data.num_nodes; ++node) {
      const std::int64_t pair = node * data.num_predictions() + k;
      if (split[node] != Part::kTrain || data.labels[pair] < 0) continue;
      ++all[data.labels[pair]];
      present[data.labels[pair]] += data.present[pair] != 0;
    }
    const bool any = *std::max_element(present.begin(), present.end()) > 0;
    const auto& counts = any ? present : all;
    majority.push_back(static_cast<std::int32_t>(
        std::max_element(counts.begin(), counts.end()) - counts.begin()));
  }
  return majority;
}

std::vector<std::int32_t> LastLabels(const TrainingInput& input,
                                     std::span<const std::int32_t> otherwise) {
  const TrainingData& data = input.data;
  std::vector<std::int32_t> at_start(static_cast<std::size_t>(data.num_nodes), -1);
  for (const LabelFact& fact : input.facts)  // by node, then time: the latest remains
    if (fact.from <= input.before_first) at_start[fact.node] = fact.label;
  std::vector<std::int32_t> last;
  last.reserve(data.labels.size());
  const auto num_predictions = static_cast<std::size_t>(data.num_predictions());
  for (std::size_t pair = 0; pair < data.labels.size(); ++pair) {
    const std::size_t k = pair % num_predictions;
    const std::int32_t before =
        k > 0 ? data.labels[pair - 1] : at_start[pair / num_predictions];
    last.push_back(before >= 0 ? before : otherwise[k]);
  }
  return last;
}

arrow::Result<Controls> MakeControls(const Settings& settings, const RunStore& store,
                                     const TrainingInput& input,
                                     std::span<const Part> split,
                                     const RunContext& context) {
  const TrainingData& data = input.data;
  const std::vector<std::int32_t> by_time = MajorityClasses(data, split);
  Controls controls;
  controls.majority.reserve(data.labels.size());
  for (std::size_t pair = 0; pair < data.labels.size(); ++pair)
    controls.majority.push_back(by_time[pair % by_time.size()]);
  if (std::any_of(input.facts.begin(), input.facts.end(),
                  [](const LabelFact& fact) { return fact.from != Labels::kAlways; })) {
    controls.last_label = LastLabels(input, by_time);
  }
  // Snapshots that no manifest names come without the log they were made from.
  ARROW_ASSIGN_OR_RAISE(const auto manifest, LoadManifest(store));
  if (!manifest) return controls;
  LabelPropagation propagation(settings, input, split, context);
  ARROW_RETURN_NOT_OK(propagation.Run(store));
  controls.propagation = propagation.Predicted(by_time);
  return controls;
}

void ScoreControls(const TrainingData& data, std::span<const Part> split,
                   const Controls& controls, std::vector<PredictionMetrics>& metrics) {
  const auto score = [&](const std::vector<std::int32_t>& predicted, auto set) {
    if (predicted.empty()) return;
    PairScores scores;
    scores.predicted = predicted;
    scores.loss.resize(predicted.size());
    for (const PredictionMetrics& control : ScorePredictions(data, split, scores)) {
      for (PredictionMetrics& one : metrics)
        if (one.prediction == control.prediction) set(one, control.micro_f1);
    }
  };
  score(controls.majority, [](PredictionMetrics& one, double micro_f1) {
    one.majority_micro_f1 = micro_f1;
  });
  score(controls.propagation, [](PredictionMetrics& one, double micro_f1) {
    one.propagation_micro_f1 = micro_f1;
  });
  score(controls.last_label, [](PredictionMetrics& one, double micro_f1) {
    one.last_label_micro_f1 = micro_f1;
  });
}

void AddGains(std::vector<std::vector<PredictionMetrics>>& runs) {
  const Control* best = kControls.data();
  for (const Control& control : kControls) {
    if (AverageOverTimes(runs, control) > AverageOverTimes(runs, *best)) best = &control;
  }
  for (auto& run : runs) {
    for (PredictionMetrics& one : run) {
      one.best_control = best->key;
      one.gain = one.micro_f1 - best->score(one);
    }
  }
}

std::optional<std::string> CompareWithControls(
    const Settings& settings, std::span<const std::vector<PredictionMetrics>> runs) {
  const auto model_score = [](const PredictionMetrics& one) { return one.micro_f1; };
  const double model = AverageOf(runs, model_score);
  std::int64_t num_nodes = 0;
  for (const auto& run : runs)
    for (const PredictionMetrics& one : run)
      num_nodes = std::max(num_nodes, one.test_nodes);
  if (num_nodes == 0) return std::nullopt;

  struct NotBeaten {
    const char* name;
    double mean;
    double spread;
  };
  std::vector<NotBeaten> not_beaten;
  for (const Control& control : kControls) {
    const double mean = AverageOf(runs, control.score);
    if (std::isnan(mean)) continue;
    double spread = std::sqrt(model * (1.0 - model) / static_cast<double>(num_nodes));
    if (runs.size() > 1) {
      double squares = 0.0;
      for (const auto& run : runs) {
        const double gain = AverageOf({&run, 1}, [&](const PredictionMetrics& one) {
          return one.micro_f1 - control.score(one);
        });
        squares += (gain - (model - mean)) * (gain - (model - mean));
      }
      spread = std::sqrt(squares / (static_cast<double>(runs.size()) - 1.0));
    }
    if (model - mean <= spread) not_beaten.push_back({control.name, mean, spread});
  }
  if (not_beaten.empty()) return std::nullopt;
  std::stable_sort(
      not_beaten.begin(), not_beaten.end(),
      [](const NotBeaten& a, const NotBeaten& b) { return a.mean > b.mean; });
  std::vector<std::string> names;
  for (const NotBeaten& one : not_beaten) {
    names.push_back(std::string(one.name) + " (" + FormatFixed(100.0 * one.mean, 2) +
                    " %, spread " + FormatFixed(100.0 * one.spread, 2) + ")");
  }
  return "the model is not better than " + Alternatives(names) +
         " by more than the spread: its Micro-F1 is " + FormatFixed(100.0 * model, 2) +
         " %; try " + Alternatives(Advice(settings));
}

}  // namespace coden
