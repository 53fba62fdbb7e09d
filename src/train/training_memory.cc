#include "train/training_memory_internal.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "coden/pipeline/error.h"
#include "coden/pipeline/resources.h"
#include "coden/store/run_layout.h"
#include "train/chunk_plan_internal.h"
#include "train/label_columns_internal.h"

namespace coden {

arrow::Result<std::int64_t> PlanTrainingMemory(const Settings& settings,
                                               const TrainingData& data,
                                               std::int64_t embedding_channels) {
  const TrainOptions& train = settings.train;
  const auto limit = static_cast<double>(MemoryLimit(settings));
  const auto nodes = static_cast<double>(data.num_nodes);
  const auto predictions = static_cast<double>(data.num_predictions());
  const auto snapshots = static_cast<double>(data.num_snapshots);
  const double channels =
      static_cast<double>((train.inputs.embedding ? embedding_channels : 0) +
                          ResolveLabelColumns(settings).NumChannels(data.num_classes));
  const auto chunk = static_cast<double>(std::min<std::int64_t>(
      {static_cast<std::int64_t>(
           ChunkNodes(static_cast<std::int64_t>(channels), data.num_snapshots)),
       train.batch, data.num_nodes}));
  const double threads = NumThreads(settings);
  const double feature_width =
      train.inputs.features ? static_cast<double>(embedding_channels) : 0.0;
  const double versions = settings.input.feature_updates.empty() ? 1.0 : predictions;
  const double times = train.times_per_step > 0
                           ? std::min<double>(train.times_per_step, predictions)
                           : predictions;

  // Labels, scores and masks of every pair, and its features.
  const double pairs =
      32.0 * nodes * predictions + sizeof(float) * nodes * versions * feature_width;
  // The ring of gathered chunks; and for every thread the kernel laid out as a matrix,
  // the inputs and hidden activations of a chunk, and the gradients of these.
  const double inputs =
      channels * (1.0 + static_cast<double>(train.averages.size())) + feature_width;
  const double activations =
      4.0 * times * (inputs + static_cast<double>(train.hidden) * (train.layers - 1));
  const double chunks =
      sizeof(float) *
      ((threads + kChunksAhead) * chunk * channels * snapshots +
       threads * (chunk * activations + 3.0 * channels * snapshots * times));
  // Parameters, their moments and best values, and a gradient for each chunk of a batch.
  const double parameters =
      (inputs + static_cast<double>(data.num_classes)) * train.hidden +
      static_cast<double>(std::max(train.layers - 2, 0)) * train.hidden * train.hidden +
      channels * train.states * 3.0;
  const double weights = sizeof(float) * parameters * (6.0 + train.batch / chunk);
  const double fixed = pairs + chunks + weights;
  const double per_snapshot = sizeof(float) * nodes * channels;
  if (fixed + per_snapshot * snapshots <= limit) return 0;
  const double held = std::floor((limit - fixed) / per_snapshot);
  if (held >= 1.0) return static_cast<std::int64_t>(held);
  return ResourceError(
      "training needs about ",
      static_cast<std::int64_t>(std::ceil((fixed + per_snapshot) / 1e6)), " MB for ",
      data.num_nodes, " labelled nodes x ", data.num_snapshots, " snapshots x ",
      static_cast<std::int64_t>(channels),
      " channels, even with its histories on disk: raise `run.memory_limit`, or lower "
      "`train.batch` or `run.threads`: the limit is ",
      static_cast<std::int64_t>(limit / 1e6), " MB");
}

std::string ScratchFolder(const RunStore& store) {
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  if (failed) folder = "/tmp";
  if (store.local()) {
    folder = store.LocalPath(RunLayout::kStage);
    std::filesystem::create_directories(folder, failed);
  }
  return folder.string();
}

}  // namespace coden
