#include "train/predict_memory_internal.h"

#include <cmath>
#include <numeric>

#include "coden/base/error.h"
#include "coden/plan/resources.h"
#include "coden/plan/training_needs.h"
#include "settings/label_columns_internal.h"
#include "train/node_states_internal.h"

namespace coden {

namespace {

// Its id in two maps, its row of a snapshot, and its place in the schedule's nodes.
constexpr double kBytesOfNode = 100.0;

// A full snapshot is there as it is decoded and as it is read; deltas also with the
// snapshot that they rest on.
double CopiesOfSnapshot(const Settings& settings) {
  return settings.snapshot.mode == SnapshotMode::kDelta ? 4.0 : 2.0;
}

}  // namespace

arrow::Result<std::int64_t> PlanPredictMemory(const Settings& settings,
                                              const ModelConfig& config,
                                              std::int64_t num_nodes,
                                              const Schedule& chosen) {
  const auto num_snapshots = static_cast<std::int64_t>(chosen.size());
  const std::vector<std::int64_t> groups = config.ChannelGroups();
  const auto channels =
      static_cast<double>(std::accumulate(groups.begin(), groups.end(), std::int64_t{0}));
  const auto embedding = static_cast<double>(config.embedding);
  const auto state = static_cast<double>(NodeStates::BytesPerNode(config));
  const double numbers = embedding * CopiesOfSnapshot(settings) + config.num_classes() +
                         static_cast<double>(config.features);
  const double all_nodes =
      static_cast<double>(num_nodes) * (kBytesOfNode + state + sizeof(float) * numbers);
  // What a thread has of its block: states before, after and in between, the inputs of
  // the classifier and two layers of it; or the histories of a smaller one.
  const double inputs =
      channels * (1.0 + static_cast<double>(config.options.averages.size())) +
      static_cast<double>(config.features) + 2.0 * config.options.hidden;
  const double history =
      KeepsHistory(config) ? channels * static_cast<double>(num_snapshots) : 0.0;
  const double block = static_cast<double>(kBlockNodes) *
                       (3.0 * state + sizeof(float) * (2.0 * inputs + history));
  std::int64_t labels = 0;
  if (config.options.label_columns > 0) {
    const LabelColumnShape shape = ResolveLabelColumns(settings);
    labels = LabelEngineBytes(settings, chosen, shape.windows,
                              static_cast<std::int64_t>(shape.alphas.size()),
                              shape.folds * static_cast<int>(config.num_classes()));
  }
  const double fixed = static_cast<double>(TrainingProcessBytes() + labels) + all_nodes +
                       block * NumThreads(settings);
  const auto limit = static_cast<double>(MemoryLimit(settings));
  const double per_snapshot =
      KeepsHistory(config) ? sizeof(float) * static_cast<double>(num_nodes) * channels
                           : 0.0;
  if (fixed + per_snapshot * static_cast<double>(num_snapshots) <= limit) return 0;
  const double held =
      per_snapshot > 0.0 ? std::floor((limit - fixed) / per_snapshot) : 0.0;
  if (held >= 1.0) return static_cast<std::int64_t>(held);
  return ResourceError(
      "predicting needs about ",
      static_cast<std::int64_t>(std::ceil((fixed + per_snapshot) / 1e6)), " MB for ",
      num_nodes, " nodes with ", static_cast<std::int64_t>(state / sizeof(float)),
      " numbers of state each: raise `run.memory_limit`, or train a model with fewer "
      "`train.states`: the limit is ",
      static_cast<std::int64_t>(limit / 1e6), " MB");
}

}  // namespace coden
