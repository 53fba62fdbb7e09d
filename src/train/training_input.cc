#include "train/training_input_internal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include <arrow/table.h>
#include <tbb/task_arena.h>

#include "coden/graph/node_id_map.h"
#include "coden/pipeline/error.h"
#include "coden/pipeline/resources.h"
#include "coden/read/labels.h"
#include "coden/sample/schedule.h"
#include "coden/snapshot/snapshot_rows.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "train/trainer_internal.h"

namespace coden {

namespace {

constexpr EventTime kNever = std::numeric_limits<EventTime>::max();

arrow::Result<Schedule> ReadSchedule(const RunStore& store) {
  ARROW_ASSIGN_OR_RAISE(const auto size, store.Size(RunLayout::kSchedule));
  if (!size) {
    return UsageError(
        "`run.directory` holds no snapshots yet: run `coden embed` first: '",
        store.Show(), "'");
  }
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, RunLayout::kSchedule));
  return ScheduleFromTable(*table);
}

// Find the rows of `ids` among the labelled nodes.
arrow::Status FindNodes(const Labels& labels, const arrow::Array& ids,
                        std::vector<NodeId>* out) {
  const arrow::DataType& label_type = *labels.nodes->id_type();
  if (!ids.type()->Equals(label_type)) {
    return InputError("the labels and the edge log must name nodes by one type: the ",
                      "labels have ", label_type.ToString(), ", the log ",
                      ids.type()->ToString());
  }
  return labels.nodes->Find(ids, out);
}

// Write the row scaled to length 1 (L2) to `out`; a row of zeros stays one. Returns
// whether all its numbers are finite.
bool CopyNormalised(std::span<const float> row, float* out) {
  double square_sum = 0.0;
  for (const double value : row) square_sum += value * value;
  const double scale = square_sum > 0.0 ? 1.0 / std::sqrt(square_sum) : 0.0;
  for (const float value : row) *out++ = static_cast<float>(value * scale);
  return std::isfinite(square_sum);
}

class Loader {
 public:
  Loader(const Settings& settings, const RunStore& store, const RunContext& context)
      : settings_(settings), context_(context), store_(store), reader_(store) {}

  arrow::Result<TrainingInput> Load() {
    ARROW_ASSIGN_OR_RAISE(labels_, ReadLabels(settings_.input));
    ARROW_RETURN_NOT_OK(ChooseSnapshots());
    ARROW_RETURN_NOT_OK(ChooseNodes());
    ARROW_RETURN_NOT_OK(FillLabels());
    ARROW_RETURN_NOT_OK(FillPresent());
    ARROW_RETURN_NOT_OK(FillHistory());
    input_.classes = labels_.classes;
    return std::move(input_);
  }

 private:
  // All snapshots up to the last prediction time, or those at prediction times alone.
  arrow::Status ChooseSnapshots() {
    ARROW_ASSIGN_OR_RAISE(const Schedule schedule, ReadSchedule(store_));
    const bool history = ReadsHistory(settings_.train.model);
    std::size_t num_needed = 0;
    for (const SchedulePoint& point : schedule) {
      if (history || point.at_prediction) snapshots_.push_back(point);
      if (!point.at_prediction) continue;
      num_needed = snapshots_.size();
      data().predictions.push_back(
          {point.prediction, point.time, static_cast<std::int64_t>(num_needed) - 1});
    }
    snapshots_.resize(num_needed);
    data().num_snapshots = static_cast<std::int64_t>(num_needed);
    if (num_needed == 0) {
      return InputError("the run has no prediction time: nothing to train on: '",
                        store_.Show(), "'");
    }
    return arrow::Status::OK();
  }

  // A node that is in some snapshot is in all later ones, so the last one tells.
  arrow::Status ChooseNodes() {
    ARROW_ASSIGN_OR_RAISE(const SnapshotRows last, reader_.Read(snapshots_.back()));
    std::vector<NodeId> found;
    ARROW_RETURN_NOT_OK(FindNodes(labels_, *last.nodes(), &found));
    dense_.assign(static_cast<std::size_t>(labels_.nodes->size()), kNoNode);
    for (const NodeId node : found) {
      if (node != kNoNode) dense_[node] = 0;
    }
    for (NodeId node = 0; node < labels_.nodes->size(); ++node) {
      if (dense_[node] == kNoNode) continue;
      dense_[node] = static_cast<NodeId>(known_.size());
      known_.push_back(node);
    }
    data().num_nodes = static_cast<std::int64_t>(known_.size());
    data().num_channels = last.num_channels();
    input_.num_unknown = labels_.nodes->size() - data().num_nodes;
    if (known_.empty()) {
      return InputError(
          "no labelled node is in the snapshots: check that `input.labels` "
          "and `input.edges` name the same nodes: ",
          labels_.nodes->size(), " labels");
    }
    return labels_.nodes->Take(known_).Value(&input_.node_ids);
  }

  arrow::Status FillLabels() {
    const std::int64_t num_predictions = data().num_predictions();
    data().labels.assign(known_.size() * data().predictions.size(), -1);
    data().num_classes = static_cast<int>(labels_.classes->length());
    std::set<std::int32_t> used;
    for (std::int64_t k = 0; k < num_predictions; ++k) {
      const auto now = labels_.At(data().predictions[k].time);
      for (std::int64_t i = 0; i < data().num_nodes; ++i) {
        const std::int32_t label = now[known_[i]];
        data().labels[i * num_predictions + k] = label;
        if (label >= 0) used.insert(label);
      }
    }
    if (used.empty()) {
      return InputError("no label is valid at a prediction time: the last one is ",
                        data().predictions.back().time);
    }
    if (used.size() < 2) {
      return InputError("training needs two classes or more: all labels of nodes in the ",
                        "snapshots are of one");
    }
    return arrow::Status::OK();
  }

  arrow::Status FillPresent() {
    ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store_, RunLayout::kNodes));
    ARROW_ASSIGN_OR_RAISE(const auto batch, table->CombineChunksToBatch());
    const auto ids = batch->GetColumnByName("node");
    const auto column = batch->GetColumnByName("first_event");
    if (ids == nullptr || column == nullptr || column->type_id() != arrow::Type::INT64) {
      return CorruptionError("'", store_.Show(RunLayout::kNodes),
                             "' must have the columns node and first_event (int64)");
    }
    const auto& first_event = static_cast<const arrow::Int64Array&>(*column);
    std::vector<NodeId> found;
    ARROW_RETURN_NOT_OK(FindNodes(labels_, *ids, &found));
    std::vector<EventTime> since(known_.size(), kNever);
    for (std::size_t row = 0; row < found.size(); ++row) {
      const auto at = static_cast<std::int64_t>(row);
      if (found[row] == kNoNode || dense_[found[row]] == kNoNode) continue;
      if (first_event.IsValid(at)) since[dense_[found[row]]] = first_event.Value(at);
    }
    for (const EventTime first : since) {
      for (const PredictionPoint& point : data().predictions) {
        data().present.push_back(first != kNever && first <= point.time);
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status FillHistory() {
    ARROW_RETURN_NOT_OK(CheckMemory());
    const std::int64_t num_channels = data().num_channels;
    const std::int64_t node_size = num_channels * data().num_snapshots;
    data().history.assign(static_cast<std::size_t>(data().num_nodes * node_size), 0.0f);
    std::vector<NodeId> found;
    for (std::int64_t s = 0; s < data().num_snapshots; ++s) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      ARROW_ASSIGN_OR_RAISE(const SnapshotRows rows,
                            reader_.Read(snapshots_[s], num_channels));
      ARROW_RETURN_NOT_OK(FindNodes(labels_, *rows.nodes(), &found));
      for (std::int64_t row = 0; row < rows.num_rows(); ++row) {
        if (found[row] == kNoNode || dense_[found[row]] == kNoNode) continue;
        float* out =
            data().history.data() + dense_[found[row]] * node_size + s * num_channels;
        if (CopyNormalised(rows.row(row), out)) continue;
        return CorruptionError("an embedding is not finite: node ",
                               labels_.nodes->Show(found[row]), ", snapshot ",
                               snapshots_[s].snapshot);
      }
    }
    MakeTimeFastest();
    return arrow::Status::OK();
  }

  // Snapshots arrive one by one as rows of channels; models read channels over time.
  void MakeTimeFastest() {
    const std::int64_t num_channels = data().num_channels;
    const std::int64_t num_snapshots = data().num_snapshots;
    std::vector<float> block(static_cast<std::size_t>(num_channels * num_snapshots));
    for (std::int64_t node = 0; node < data().num_nodes; ++node) {
      float* out = data().history.data() + node * num_channels * num_snapshots;
      std::copy(out, out + block.size(), block.data());
      for (std::int64_t channel = 0; channel < num_channels; ++channel) {
        for (std::int64_t s = 0; s < num_snapshots; ++s) {
          *out++ = block[s * num_channels + channel];
        }
      }
    }
  }

  // The history; labels, scores and masks of every pair; and for every thread one chunk
  // of nodes with its hidden activations and their gradients.
  arrow::Status CheckMemory() const {
    const std::int64_t limit = MemoryLimit(settings_);
    const TrainingData& data = input_.data;
    const TrainOptions& train = settings_.train;
    const int threads = settings_.run.threads > 0
                            ? settings_.run.threads
                            : tbb::this_task_arena::max_concurrency();
    const double num_pairs =
        static_cast<double>(data.num_nodes) * static_cast<double>(data.num_predictions());
    const double node_history =
        static_cast<double>(data.num_channels) * static_cast<double>(data.num_snapshots);
    const double node_activations =
        4.0 * static_cast<double>(data.num_predictions()) *
        static_cast<double>(data.num_channels + train.hidden * (train.layers - 1));
    const double chunk = static_cast<double>(
        std::min<std::int64_t>({kChunkNodes, train.batch, data.num_nodes}));
    const double needed =
        sizeof(float) * (static_cast<double>(data.num_nodes) * node_history +
                         threads * chunk * (node_history + node_activations)) +
        32.0 * num_pairs;
    if (needed <= static_cast<double>(limit)) return arrow::Status::OK();
    return ResourceError(
        "training needs about ", static_cast<std::int64_t>(std::ceil(needed / 1e6)),
        " MB for ", data.num_nodes, " labelled nodes x ", data.num_snapshots,
        " snapshots x ", data.num_channels,
        " channels: raise `run.memory_limit`, or `sample.lambda` for fewer snapshots: "
        "the limit is ",
        static_cast<std::int64_t>(static_cast<double>(limit) / 1e6), " MB");
  }

  TrainingData& data() { return input_.data; }

  const Settings& settings_;
  const RunContext& context_;
  const RunStore& store_;
  Labels labels_;
  SnapshotReader reader_;
  Schedule snapshots_;         // those that are held, in order of time
  std::vector<NodeId> known_;  // labelled nodes that are in a snapshot
  std::vector<NodeId> dense_;  // from labelled node to its place in known_, or kNoNode
  TrainingInput input_;
};

}  // namespace

arrow::Result<TrainingInput> LoadTrainingInput(const Settings& settings,
                                               const RunStore& store,
                                               const RunContext& context) {
  return Loader(settings, store, context).Load();
}

}  // namespace coden
