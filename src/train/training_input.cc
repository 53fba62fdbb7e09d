#include "train/training_input_internal.h"

#include <algorithm>
#include <set>
#include <utility>

#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/read/labels.h"
#include "coden/sample/schedule.h"
#include "coden/snapshot/snapshot_rows.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "store/machine_memory_internal.h"
#include "train/embedding_row_internal.h"
#include "train/feature_rows_internal.h"
#include "train/labelled_nodes_internal.h"
#include "train/scratch_folder_internal.h"

namespace coden {

namespace {

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

class Loader {
 public:
  Loader(const Settings& settings, const RunStore& store, const RunContext& context,
         SnapshotCache* cache)
      : settings_(settings),
        context_(context),
        store_(store),
        cache_(cache),
        reader_(store, cache) {}

  arrow::Result<TrainingInput> Load() {
    ARROW_ASSIGN_OR_RAISE(Labels labels, ReadLabels(settings_.input));
    ARROW_RETURN_NOT_OK(ChooseSnapshots());
    ARROW_RETURN_NOT_OK(ChooseNodes(std::move(labels)));
    ARROW_RETURN_NOT_OK(FillLabels());
    FillPresent();
    input_.needs = PlanTraining(settings_, schedule_,
                                {data().num_nodes, data().num_classes,
                                 static_cast<std::int64_t>(nodes_.facts.size()),
                                 static_cast<int>(num_channels_)});
    ARROW_RETURN_NOT_OK(CheckTraining(settings_, input_.needs));
    if (settings_.train.inputs.embedding) ARROW_RETURN_NOT_OK(FillEmbeddings());
    if (cache_ != nullptr) cache_->Clear();
    if (settings_.train.inputs.features)
      ARROW_RETURN_NOT_OK(FillFeatures(settings_, store_, &input_));
    input_.classes = nodes_.labels.classes;
    input_.facts = std::move(nodes_.facts);
    input_.first_events = std::move(nodes_.first_events);
    ReturnFreeMemory();  // of the snapshots
    return std::move(input_);
  }

 private:
  // All snapshots up to the last prediction time, or those at prediction times alone.
  arrow::Status ChooseSnapshots() {
    ARROW_ASSIGN_OR_RAISE(schedule_, ReadSchedule(store_));
    input_.snapshots = SnapshotsOfTraining(settings_, schedule_);
    for (const SchedulePoint& point : input_.snapshots) {
      ++data().num_snapshots;
      if (!point.at_prediction) continue;
      data().predictions.push_back(
          {point.prediction, point.time, data().num_snapshots - 1});
    }
    if (input_.snapshots.empty()) {
      return InputError("the run has no prediction time: nothing to train on: '",
                        store_.Show(), "'");
    }
    if (settings_.train.protocol == Protocol::kRolling && data().num_predictions() < 2) {
      return UsageError(
          "`train.protocol = rolling` learns at one prediction time and predicts the "
          "next, so it needs two: the run has one");
    }
    // The initial graph has the first snapshot, which some models do not read.
    const SchedulePoint& first = schedule_.front();
    input_.before_first =
        first.prediction == 0 ? first.time : data().predictions.front().time - 1;
    return arrow::Status::OK();
  }

  arrow::Status ChooseNodes(Labels labels) {
    ARROW_ASSIGN_OR_RAISE(const SnapshotRows last, reader_.Read(input_.snapshots.back()));
    ARROW_ASSIGN_OR_RAISE(nodes_,
                          FindLabelledNodes(std::move(labels), store_, *last.nodes()));
    input_.node_ids = nodes_.ids;
    data().num_nodes = nodes_.size();
    num_channels_ = last.num_channels();
    input_.num_unknown = nodes_.labels.nodes->size() - nodes_.size();
    return arrow::Status::OK();
  }

  arrow::Status FillLabels() {
    const std::int64_t num_predictions = data().num_predictions();
    data().labels.assign(
        static_cast<std::size_t>(nodes_.size()) * data().predictions.size(), -1);
    data().num_classes = static_cast<int>(nodes_.labels.classes->length());
    std::set<std::int32_t> used;
    for (std::int64_t k = 0; k < num_predictions; ++k) {
      const auto now = nodes_.labels.At(data().predictions[k].time);
      for (std::int64_t i = 0; i < data().num_nodes; ++i) {
        const std::int32_t label = now[nodes_.known[i]];
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

  void FillPresent() {
    data().present.reserve(data().labels.size());
    for (const EventTime first : nodes_.first_events) {
      for (const PredictionPoint& point : data().predictions) {
        data().present.push_back(first != kNeverSeen && first <= point.time);
      }
    }
  }

  arrow::Status FillEmbeddings() {
    ARROW_ASSIGN_OR_RAISE(
        const std::shared_ptr<NodeHistory> history,
        NodeHistory::Make({data().num_nodes, num_channels_, data().num_snapshots},
                          input_.needs.held_snapshots, ScratchFolder(store_)));
    std::vector<NodeId> found;
    for (const SchedulePoint& point : input_.snapshots) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      ARROW_ASSIGN_OR_RAISE(const SnapshotRows rows, reader_.Read(point, num_channels_));
      ARROW_RETURN_NOT_OK(nodes_.Find(*rows.nodes(), &found));
      for (std::int64_t row = 0; row < rows.num_rows(); ++row) {
        if (found[row] == kNoNode) continue;
        if (CopyNormalised(rows.row(row), history->Row(found[row]))) continue;
        return CorruptionError("an embedding is not finite: node ",
                               nodes_.labels.nodes->Show(nodes_.known[found[row]]),
                               ", snapshot ", point.snapshot);
      }
      ARROW_RETURN_NOT_OK(history->EndSnapshot());
      if (cache_ != nullptr) cache_->Drop(point.snapshot);
    }
    data().channels.push_back(history);
    return arrow::Status::OK();
  }

  TrainingData& data() { return input_.data; }

  const Settings& settings_;
  const RunContext& context_;
  const RunStore& store_;
  SnapshotCache* cache_;
  SnapshotReader reader_;
  Schedule schedule_;
  LabelledNodes nodes_;
  std::int64_t num_channels_ = 0;  // of an embedding
  TrainingInput input_;
};

}  // namespace

arrow::Result<TrainingInput> LoadTrainingInput(const Settings& settings,
                                               const RunStore& store,
                                               const RunContext& context,
                                               SnapshotCache* cache) {
  return Loader(settings, store, context, cache).Load();
}

}  // namespace coden
