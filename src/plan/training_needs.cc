// What a training takes, from its size alone. The process is at its peak in one of four
// stages, which all hold the histories and what every pair of node and time has:
//
//     load      the snapshots that were kept for it, or one that is read
//     columns   the graphs and engines of the label columns, while the log is replayed
//     learn     chunks of histories, and the tensors that a thread makes of one
//     controls  the graph and the engine of label propagation
//
// What a stage has released goes back to the system before the next one
// (ReturnFreeMemory), so the stages do not add up.

#include "coden/plan/training_needs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/plan/resources.h"
#include "coden/snapshot/snapshot_cache.h"
#include "coden/store/parquet_file.h"
#include "plan/chunk_size_internal.h"
#include "settings/label_columns_internal.h"

namespace coden {

namespace {

// What LibTorch and the libraries below it take once they are loaded and have computed.
constexpr std::int64_t kTorchBytes = 84'000'000;

// Of a node: its id in the maps of the run and of the labels, its first event and its
// place.
constexpr std::int64_t kNodeBytes = 100;
// Of a pair of a node and a prediction time: its label, its scores, whether it counts.
constexpr std::int64_t kPairBytes = 64;
// Of a label: as it is read, and as it enters the columns.
constexpr std::int64_t kFactBytes = 100;
// Of a snapshot row beside its numbers.
constexpr std::int64_t kRowBytes = 24;
// A full snapshot is there as it is decoded and as it is read.
constexpr std::int64_t kCopiesOfSnapshot = 2;
// What the libraries keep for good once a model has learnt; and of every thread beyond
// two, for products of matrices and in its part of the heap.
constexpr std::int64_t kLearntBytes = 25'000'000;
constexpr std::int64_t kThreadBytes = 9'000'000;
constexpr int kThreadsCounted = 2;
// What a run leaves in pieces, until the next ones fill these.
constexpr std::int64_t kRunBytes = 10'000'000;
constexpr int kRunsCounted = 2;
// Of a row of predictions that waits for its row group.
constexpr std::int64_t kPredictionBytes = 60;
// Rows of label columns that are put together at a time (label_embedder.cc).
constexpr std::int64_t kLabelRows = 1 << 14;

// Numbers that a model keeps of the inputs of a pair while it learns, and of one hidden
// unit.
constexpr double kInputCopies = 6.0;
constexpr double kHiddenCopies = 6.0;

// Percent.
constexpr int kLoadSlack = 8;
constexpr int kLearnSlack = 10;

class TrainingPlan {
 public:
  TrainingPlan(const Settings& settings, const Schedule& schedule,
               const TrainingSize& size)
      : settings_(settings),
        train_(settings.train),
        size_(size),
        labels_(ResolveLabelColumns(settings)),
        schedule_(schedule),
        snapshots_(SnapshotsOfTraining(settings, schedule)),
        num_snapshots_(static_cast<std::int64_t>(snapshots_.size())) {
    for (const SchedulePoint& point : schedule) {
      num_predictions_ += point.at_prediction;
      graph_nodes_ = std::max(graph_nodes_, point.num_nodes);
    }
    embedding_ = train_.inputs.embedding ? size.columns : 0;
    features_ = train_.inputs.features ? size.columns : 0;
    channels_ = embedding_ + labels_.NumChannels(static_cast<int>(size.classes));
  }

  TrainingNeeds Make() const {
    const std::int64_t limit = MemoryLimit(settings_);
    TrainingNeeds needs;
    needs.cache_bytes = CacheBytes(limit);
    needs.control_classes = size_.classes;
    std::int64_t held = num_snapshots_;
    while (held > 1 && std::max(PeakBytes(held, needs),
                                ControlPeakBytes(held, /*classes=*/1)) > limit) {
      held /= 2;
    }
    if (held < num_snapshots_) {
      // What is filled is written out before the next snapshots take its place.
      needs.held_snapshots = held;
      needs.temporary_bytes = HistoryBytes(channels_, num_snapshots_);
    }
    // Label propagation is taken in parts where all classes are too much at once.
    while (needs.control_classes > 1 &&
           ControlPeakBytes(held, needs.control_classes) > limit) {
      needs.control_classes = (needs.control_classes + 1) / 2;
    }
    needs.memory_bytes =
        std::max(PeakBytes(held, needs), ControlPeakBytes(held, needs.control_classes));
    return needs;
  }

 private:
  // With what the allocators keep beside what is in use: most of it in the small pieces
  // that learning leaves.
  static std::int64_t WithSlack(std::int64_t bytes, int percent) {
    return bytes + bytes * percent / 100;
  }

  // With so many snapshots held, without the controls.
  std::int64_t PeakBytes(std::int64_t held, const TrainingNeeds& needs) const {
    const std::int64_t load =
        HistoryBytes(embedding_, held) + LoadBytes(needs.cache_bytes);
    const std::int64_t learn = HistoryBytes(channels_, held) + KeptBytes() +
                               std::max(ColumnBytes(), LearnBytes());
    return std::max(WithSlack(BaseBytes() + load, kLoadSlack),
                    WithSlack(BaseBytes() + learn, kLearnSlack));
  }

  std::int64_t ControlPeakBytes(std::int64_t held, std::int64_t classes) const {
    return WithSlack(BaseBytes() + HistoryBytes(channels_, held) + KeptBytes() +
                         kLearntBytes + ControlBytes(classes),
                     kLearnSlack);
  }

  std::int64_t HistoryBytes(std::int64_t channels, std::int64_t snapshots) const {
    return 4 * size_.nodes * channels * snapshots;
  }

  // What is there from the beginning to the end.
  std::int64_t BaseBytes() const {
    const std::int64_t versions =
        settings_.input.feature_updates.empty() ? 1 : num_predictions_;
    return ProcessBytes(schedule_.empty() ? 0 : schedule_.back().events, graph_nodes_,
                        size_.columns) +
           kTorchBytes + kNodeBytes * graph_nodes_ + kFactBytes * size_.facts +
           size_.nodes * (kPairBytes * num_predictions_ + 4 * versions * features_);
  }

  std::int64_t CacheBytes(std::int64_t limit) const {
    const bool caches = settings_.run.memory_limit == 0 && embedding_ > 0 &&
                        SnapshotCache::Applies(settings_.snapshot);
    if (!caches) return 0;
    std::int64_t rows = 0;
    for (const SchedulePoint& point : schedule_)
      rows += std::min(point.num_nodes, size_.nodes);
    return std::min(rows * (4 * embedding_ + kRowBytes), limit / 4);
  }

  std::int64_t LoadBytes(std::int64_t cache_bytes) const {
    const std::int64_t rows =
        settings_.snapshot.nodes == SnapshotNodes::kLabelled ? size_.nodes : graph_nodes_;
    const std::int64_t copies =
        kCopiesOfSnapshot * (settings_.snapshot.mode == SnapshotMode::kDelta ? 2 : 1);
    return std::max(cache_bytes, copies * rows * (4 * embedding_ + kRowBytes));
  }

  std::int64_t ColumnBytes() const {
    if (labels_.folds == 0) return 0;
    return LabelEngineBytes(settings_, snapshots_, labels_.windows,
                            static_cast<std::int64_t>(labels_.alphas.size()),
                            labels_.folds * static_cast<int>(size_.classes)) +
           2 * size_.nodes * labels_.NumChannels(static_cast<int>(size_.classes));
  }

  // Prediction times that a model learns from in one step, or predicts at once.
  double NumTimes() const {
    std::int64_t times = num_predictions_;
    if (train_.protocol == Protocol::kEach) times = 1;
    if (train_.protocol == Protocol::kRolling)
      times = std::max<std::int64_t>(times - 1, 1);
    const std::int64_t some = train_.times_per_step;
    return static_cast<double>(some > 0 ? std::min(some, times) : times);
  }

  // Channels, averages of them, features.
  double NumInputs() const {
    return static_cast<double>(channels_) *
               (1.0 + static_cast<double>(train_.averages.size())) +
           static_cast<double>(features_);
  }

  double NumParameters() const {
    const double hidden = train_.hidden;
    return (NumInputs() + static_cast<double>(size_.classes)) * hidden +
           std::max(train_.layers - 2, 0) * hidden * hidden +
           static_cast<double>(channels_) * train_.states * 3.0;
  }

  // The best weights of every lesson, of the run that learns and for the checkpoints of
  // all; and the predictions of all runs, until a row group is full.
  std::int64_t KeptBytes() const {
    const bool one_model = train_.protocol == Protocol::kShared;
    const std::int64_t models = (one_model ? 1 : num_predictions_) * (train_.runs + 1);
    const std::int64_t rows =
        std::min(size_.nodes * num_predictions_ * train_.runs,
                 static_cast<std::int64_t>(ParquetFileOptions().row_group_rows));
    return kPredictionBytes * rows + kRunBytes * std::min(train_.runs - 1, kRunsCounted) +
           static_cast<std::int64_t>(sizeof(float) * NumParameters()) * models;
  }

  std::int64_t LearnBytes() const {
    const auto chunk = static_cast<double>(std::min<std::int64_t>(
        {static_cast<std::int64_t>(ChunkNodes(channels_, num_snapshots_)), train_.batch,
         size_.nodes}));
    const double num_chunks = std::ceil(static_cast<double>(size_.nodes) / chunk);
    const int threads = NumThreads(settings_);
    const double workers = std::min<double>(threads, num_chunks);
    const double buffers = std::min<double>(threads + kChunksAhead, num_chunks);
    const double history =
        static_cast<double>(channels_) * static_cast<double>(num_snapshots_);
    const double hidden = train_.hidden * (train_.layers - 1.0);
    // The ring of gathered chunks; and for every thread that has one, its copy in the
    // order of a product, the kernel laid out as a matrix, the inputs and hidden
    // activations, and the gradients of these.
    const double chunks =
        buffers * chunk * history +
        workers *
            (chunk * history + 3.0 * history * NumTimes() +
             chunk * NumTimes() * (kInputCopies * NumInputs() + kHiddenCopies * hidden));
    // Parameters, their moments and best values, and a gradient for each chunk of a
    // batch.
    const double weights = NumParameters() * (6.0 + train_.batch / chunk);
    return static_cast<std::int64_t>(sizeof(float) * (chunks + weights)) +
           kThreadBytes * std::max(threads - kThreadsCounted, 0);
  }

  std::int64_t ControlBytes(std::int64_t classes) const {
    // Where not all classes travel, one column takes what the others leave.
    const auto columns =
        static_cast<int>(classes < size_.classes ? classes + 1 : classes);
    Schedule times;
    for (const SchedulePoint& point : snapshots_)
      if (point.at_prediction) times.push_back(point);
    return LabelEngineBytes(settings_, times, {settings_.graph.window}, 1, columns) +
           4 * size_.nodes * columns + 8 * size_.nodes * num_predictions_;
  }

  const Settings& settings_;
  const TrainOptions& train_;
  const TrainingSize& size_;
  const LabelColumnShape labels_;
  const Schedule& schedule_;
  const Schedule snapshots_;  // that the model reads
  const std::int64_t num_snapshots_;
  std::int64_t num_predictions_ = 0;
  std::int64_t graph_nodes_ = 0;
  std::int64_t embedding_ = 0;  // channels
  std::int64_t features_ = 0;
  std::int64_t channels_ = 0;  // with those of the label columns
};

}  // namespace

std::int64_t TrainingProcessBytes() { return ProcessBytes(0, 0, 0) + kTorchBytes; }

Schedule SnapshotsOfTraining(const Settings& settings, const Schedule& schedule) {
  const bool history =
      settings.train.model != ModelKind::kCodenS || !settings.train.averages.empty();
  Schedule snapshots;
  std::size_t num_needed = 0;
  for (const SchedulePoint& point : schedule) {
    if (history || point.at_prediction) snapshots.push_back(point);
    if (point.at_prediction) num_needed = snapshots.size();
  }
  snapshots.resize(num_needed);
  return snapshots;
}

TrainingNeeds PlanTraining(const Settings& settings, const Schedule& schedule,
                           const TrainingSize& size) {
  return TrainingPlan(settings, schedule, size).Make();
}

arrow::Status CheckTraining(const Settings& settings, const TrainingNeeds& needs) {
  const std::int64_t limit = MemoryLimit(settings);
  if (needs.memory_bytes <= limit) {
    if (DiskHasRoom(settings, needs.temporary_bytes)) return arrow::Status::OK();
    return ResourceError("the histories that training puts on disk need about ",
                         (needs.temporary_bytes + 999'999) / 1'000'000,
                         " MB below `run.directory` until it ends; free some, or raise "
                         "`run.memory_limit`: it is ",
                         limit / 1'000'000, " MB");
  }
  std::string way_out = settings.run.memory_limit > 0 ? "raise `run.memory_limit`"
                                                      : "take a larger machine";
  if (settings.train.label_columns > 0)
    way_out += ", lower `train.label_columns` or take fewer `train.label_alphas`";
  return ResourceError(
      "training needs about ", (needs.memory_bytes + 999'999) / 1'000'000,
      " MB of memory", needs.held_snapshots > 0 ? " even with its histories on disk" : "",
      "; ", way_out,
      ", or lower `train.batch`, `train.hidden` or `run.threads`: the limit is ",
      limit / 1'000'000, " MB");
}

}  // namespace coden
