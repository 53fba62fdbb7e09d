#include "coden/train/predict.h"

#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/plan/resources.h"
#include "coden/snapshot/snapshot_rows.h"
#include "coden/state/saved_labels.h"
#include "coden/state/saved_nodes.h"
#include "coden/store/run_layout.h"
#include "train/current_features_internal.h"
#include "train/embedding_row_internal.h"
#include "train/fence_internal.h"
#include "train/forecast_file_internal.h"
#include "train/forecast_plan_internal.h"
#include "train/label_history_internal.h"
#include "train/model_state_internal.h"
#include "train/node_states_internal.h"
#include "train/numbered_snapshot_internal.h"
#include "train/predict_memory_internal.h"
#include "train/scratch_folder_internal.h"
#include "train/training_seeds_internal.h"

namespace coden {

namespace {

// Time since the last look at it.
class Stopwatch {
 public:
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class PredictStage {
 public:
  PredictStage(const Settings& settings, RunStore& store, const PredictTask& task,
               const RunContext& context)
      : settings_(settings),
        store_(store),
        task_(task),
        context_(context),
        reader_(store) {}

  arrow::Result<PredictSummary> Run() {
    ARROW_ASSIGN_OR_RAISE(plan_, PlanForecast(store_, task_));
    if (plan_.times.empty()) {
      Note("there is no prediction time after number " +
           std::to_string(plan_.progress.prediction) + ": nothing to predict");
      return std::move(summary_);
    }
    ARROW_RETURN_NOT_OK(OpenNodes());
    ARROW_RETURN_NOT_OK(OpenStates());
    shared_seconds_ += watch_.Lap();
    ARROW_ASSIGN_OR_RAISE(forecast_,
                          StageForecast(store_, nodes_->id_type(), *config().classes,
                                        /*goes_on=*/task_.earlier != nullptr));
    // Copying earlier predictions is writing, which is not counted as latency.
    watch_.Lap();
    context_.progress->Begin(
        "predict", "snapshots",
        static_cast<std::int64_t>(plan_.chosen.size()) - plan_.num_done);
    ARROW_RETURN_NOT_OK(has_labels() ? FollowLabels() : FollowSnapshots());
    if (keeps_history()) ARROW_RETURN_NOT_OK(ScoreHistories());
    ARROW_RETURN_NOT_OK(Stage());
    Summarise();
    return std::move(summary_);
  }

 private:
  const ModelConfig& config() const { return plan_.model.config; }
  bool has_labels() const { return config().options.label_columns > 0; }
  bool keeps_history() const { return KeepsHistory(config()); }

  void Note(const std::string& text) {
    summary_.notes.push_back(text);
    context_.progress->Note(text);
  }

  // The inputs of the run are opened for those who read them; others need the nodes
  // alone.
  arrow::Status OpenNodes() {
    if (has_labels() || config().features > 0) {
      ARROW_ASSIGN_OR_RAISE(run_, CommittedRun::Open(settings_, store_));
      nodes_ = run_.inputs.nodes.get();
    } else {
      ARROW_ASSIGN_OR_RAISE(own_nodes_, coden::OpenNodes(store_));
      nodes_ = own_nodes_.ids.get();
    }
    if (config().features > 0) {
      ARROW_ASSIGN_OR_RAISE(features_, CurrentFeatures::Make(run_.inputs, plan_.model));
    }
    return arrow::Status::OK();
  }

  arrow::Status OpenStates() {
    ARROW_ASSIGN_OR_RAISE(
        const std::int64_t held,
        PlanPredictMemory(settings_, config(), nodes_->size(), plan_.chosen));
    ARROW_ASSIGN_OR_RAISE(states_,
                          NodeStates::Make(plan_.model, nodes_->size(),
                                           store_.Show(RunLayout::kModelWeights)));
    if (keeps_history()) {
      for (const std::int64_t channels : config().ChannelGroups()) {
        ARROW_ASSIGN_OR_RAISE(
            histories_.emplace_back(),
            NodeHistory::Make({nodes_->size(), channels,
                               static_cast<std::int64_t>(plan_.chosen.size())},
                              held, ScratchFolder(store_)));
      }
    } else if (plan_.num_done > 0) {
      ARROW_RETURN_NOT_OK(LoadModelStates(store_, *states_));
    }
    probabilities_.resize(static_cast<std::size_t>(nodes_->size()) *
                          static_cast<std::size_t>(config().num_classes()));
    return arrow::Status::OK();
  }

  arrow::Status FollowSnapshots() {
    for (std::size_t i = plan_.num_done; i < plan_.chosen.size(); ++i)
      ARROW_RETURN_NOT_OK(TakeSnapshot(plan_.chosen[i]));
    return arrow::Status::OK();
  }

  // The labels travel first, and have to be there before a snapshot is read.
  arrow::Status FollowLabels() {
    LabelEmbedderOptions options =
        LabelColumns(settings_, config().num_classes(), context_);
    ARROW_ASSIGN_OR_RAISE(auto seeds, TrainingSeeds(settings_, store_, run_, config()));
    options.after_snapshot = [this](const SchedulePoint& point) {
      return TakeSnapshot(point);
    };
    ARROW_ASSIGN_OR_RAISE(auto graphs, run_.Graphs(settings_, store_, options.windows));
    ARROW_ASSIGN_OR_RAISE(labels_,
                          LabelEmbedder::Make(options, plan_.chosen, std::move(seeds),
                                              run_.inputs.Times(), std::move(graphs)));
    if (plan_.num_done > 0) {
      ARROW_RETURN_NOT_OK(LoadLabelState(store_, *labels_));
      if (labels_->num_snapshots() != plan_.num_done) {
        return CorruptionError("'", store_.Show(RunLayout::kLabelProgress),
                               "' stands at another snapshot than the model; predict "
                               "again with `coden predict --force`");
      }
    }
    shared_seconds_ += watch_.Lap();
    return labels_->Run();
  }

  arrow::Status TakeSnapshot(const SchedulePoint& point) {
    ARROW_RETURN_NOT_OK(context_.stop.Poll());
    const auto found = plan_.times.find(point.prediction);
    PredictedTime* const time = found == plan_.times.end() ? nullptr : &found->second;
    const double label_seconds = watch_.Lap();
    NumberedSnapshot snapshot;
    const bool scored = point.at_prediction && time != nullptr;
    if (scored || config().embedding > 0) {
      ARROW_ASSIGN_OR_RAISE(SnapshotRows rows, reader_.Read(point, config().embedding));
      ARROW_ASSIGN_OR_RAISE(
          snapshot, NumberedSnapshot::Make(std::move(rows), *nodes_, point.snapshot));
    }
    NodeStates::Times spent;
    if (keeps_history()) {
      ARROW_RETURN_NOT_OK(Remember(point, snapshot));
    } else {
      ARROW_ASSIGN_OR_RAISE(spent, Advance(point, snapshot, scored));
    }
    const double seconds = watch_.Lap();
    // States that are made anew at every call are part of its latency.
    if (keeps_history()) {
      shared_seconds_ += label_seconds + seconds;
    } else if (time == nullptr) {
      rebuild_seconds_ += label_seconds + seconds;
      ++num_rebuilt_;
    } else {
      time->embed_seconds += label_seconds;
      time->state_seconds += seconds - spent.scores;
      time->score_seconds += spent.scores;
    }
    if (scored && keeps_history()) {
      // Its numbers are in the histories by now.
      snapshot.rows = SnapshotRows::Make(snapshot.rows.nodes(), nullptr, 0);
      snapshot.row_of = {};
      waiting_.push_back({std::move(snapshot), num_taken_});
    } else if (scored) {
      ARROW_RETURN_NOT_OK(Write(snapshot, *time));
    }
    context_.progress->Advance(++num_taken_);
    return arrow::Status::OK();
  }

  // Write the channels of nodes [first, first + count), group by group, to
  // `out(group, node)`.
  template <typename Out>
  arrow::Status CopyChannels(const SchedulePoint& point, const NumberedSnapshot& snapshot,
                             NodeId first, NodeId count, const Out& out) const {
    std::size_t group = 0;
    if (config().embedding > 0) {
      for (NodeId node = first; node < first + count; ++node) {
        const std::int32_t row = snapshot.row_of[node];
        if (row < 0 || CopyNormalised(snapshot.rows.row(row), out(group, node))) continue;
        return CorruptionError("an embedding is not finite: node ", nodes_->Show(node),
                               ", snapshot ", point.snapshot);
      }
      ++group;
    }
    if (!has_labels()) return arrow::Status::OK();
    const auto width = static_cast<std::size_t>(labels_->width());
    std::vector<NodeId> nodes(static_cast<std::size_t>(count));
    std::iota(nodes.begin(), nodes.end(), first);
    std::vector<float> reached(nodes.size() * width);
    // Its own threads must not take up another block on this one.
    tbb::this_task_arena::isolate([&] { labels_->CopyRows(nodes, reached.data()); });
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      ReadLabelRow({reached.data() + i * width, width}, config().num_classes(),
                   out(group, nodes[i]));
    }
    return arrow::Status::OK();
  }

  arrow::Result<NodeStates::Times> Advance(const SchedulePoint& point,
                                           const NumberedSnapshot& snapshot,
                                           bool scored) {
    const std::vector<std::int64_t> groups = config().ChannelGroups();
    const std::int64_t width =
        std::accumulate(groups.begin(), groups.end(), std::int64_t{0});
    NodeStates::Snapshot next;
    next.channels = [&](NodeId first, NodeId count, float* rows) {
      return CopyChannels(
          point, snapshot, first, count, [&](std::size_t group, NodeId node) {
            return rows + (node - first) * width + (group == 0 ? 0 : groups.front());
          });
    };
    if (scored) ARROW_RETURN_NOT_OK(PrepareScores(point.time, &next));
    return states_->Take(next);
  }

  arrow::Status PrepareScores(EventTime time, NodeStates::Snapshot* next) {
    next->probabilities = probabilities_.data();
    if (features_ == nullptr) return arrow::Status::OK();
    next->features = [this](NodeId first, NodeId count, float* rows) {
      features_->Copy(first, count, rows);
      return arrow::Status::OK();
    };
    return features_->AdvanceTo(time);
  }

  arrow::Status Remember(const SchedulePoint& point, const NumberedSnapshot& snapshot) {
    for (NodeId first = 0; first < nodes_->size(); first += kBlockNodes) {
      const auto count = static_cast<NodeId>(
          std::min<std::int64_t>(kBlockNodes, nodes_->size() - first));
      ARROW_RETURN_NOT_OK(CopyChannels(
          point, snapshot, first, count,
          [&](std::size_t group, NodeId node) { return histories_[group]->Row(node); }));
    }
    for (const auto& history : histories_) ARROW_RETURN_NOT_OK(history->EndSnapshot());
    return arrow::Status::OK();
  }

  // Once the histories are complete; a time reads no later snapshot.
  arrow::Status ScoreHistories() {
    const std::vector<std::shared_ptr<const NodeHistory>> groups(histories_.begin(),
                                                                 histories_.end());
    for (const auto& [snapshot, at] : waiting_) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      PredictedTime& time = plan_.times.at(plan_.chosen[at].prediction);
      NodeStates::Snapshot next;
      ARROW_RETURN_NOT_OK(PrepareScores(time.time, &next));
      ARROW_RETURN_NOT_OK(states_->ScoreHistory(groups, at, next).status());
      time.score_seconds += watch_.Lap();
      ARROW_RETURN_NOT_OK(Write(snapshot, time));
    }
    return arrow::Status::OK();
  }

  // The predictions are known by now: no latency has the time of this.
  arrow::Status Write(const NumberedSnapshot& snapshot, PredictedTime& time) {
    time.num_nodes = snapshot.rows.num_rows();
    num_predictions_ += time.num_nodes;
    ARROW_ASSIGN_OR_RAISE(
        const auto batch,
        ForecastBatch({time.prediction, time.time, snapshot.rows.nodes(), snapshot.nodes,
                       probabilities_},
                      *config().classes));
    ARROW_RETURN_NOT_OK(forecast_->Write(*batch));
    watch_.Lap();
    return arrow::Status::OK();
  }

  arrow::Status Stage() {
    plan_.progress.snapshot = plan_.chosen.back().snapshot;
    plan_.progress.events = plan_.chosen.back().events;
    plan_.progress.prediction = plan_.chosen.back().prediction;
    ARROW_ASSIGN_OR_RAISE(summary_.files.emplace_back(), forecast_->Close());
    ARROW_ASSIGN_OR_RAISE(summary_.files.emplace_back(),
                          StageModelState(store_, plan_.progress, *states_));
    if (!has_labels() || keeps_history()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto files, StageLabelState(store_, *labels_));
    summary_.files.insert(summary_.files.end(), files.begin(), files.end());
    return arrow::Status::OK();
  }

  void Summarise() {
    context_.progress->End(
        CountOf(num_predictions_, "predictions for ") +
        CountOf(static_cast<std::int64_t>(plan_.times.size()), "prediction times"));
    double num_snapshots = 0.0;
    for (const auto& [prediction, time] : plan_.times)
      num_snapshots += static_cast<double>(time.num_snapshots);
    for (auto& [prediction, time] : plan_.times) {
      const double share = static_cast<double>(time.num_snapshots) / num_snapshots;
      time.embed_seconds += share * task_.embed_seconds;
      time.state_seconds += share * shared_seconds_;
      summary_.times.push_back(time);
    }
    if (keeps_history()) {
      Note("coden-a looks back at all snapshots, so that it keeps no states: " +
           CountOf(num_taken_, "were read again"));
    } else if (num_rebuilt_ > 0) {
      Note("Replayed " + CountOf(num_rebuilt_, "earlier snapshots in ") +
           FormatSeconds(rebuild_seconds_) + " (not counted as latency).");
    }
    if (plan_.times.size() > 1) {
      Note(
          "the prediction times share the seconds of embedding and opening by their "
          "snapshots");
    }
  }

  const Settings& settings_;
  RunStore& store_;
  const PredictTask& task_;
  const RunContext& context_;
  ForecastPlan plan_;
  CommittedRun run_;
  SavedNodes own_nodes_;
  const NodeIdMap* nodes_ = nullptr;  // those of run_, or own_nodes_
  SnapshotReader reader_;
  std::unique_ptr<CurrentFeatures> features_;
  std::unique_ptr<LabelEmbedder> labels_;
  std::unique_ptr<NodeStates> states_;
  std::vector<std::shared_ptr<NodeHistory>> histories_;  // by group
  std::vector<std::pair<NumberedSnapshot, std::int64_t>>
      waiting_;                       // until those are full
  std::vector<float> probabilities_;  // [nodes, classes], of the last scored time
  std::unique_ptr<ParquetFileWriter> forecast_;
  std::int64_t num_taken_ = 0;
  std::int64_t num_rebuilt_ = 0;
  std::int64_t num_predictions_ = 0;
  Stopwatch watch_;
  double shared_seconds_ = 0.0;
  double rebuild_seconds_ = 0.0;
  PredictSummary summary_;
};

}  // namespace

arrow::Result<PredictSummary> Predict(const Settings& settings, RunStore& store,
                                      const PredictTask& task,
                                      const RunContext& context) {
  return WithinFence<PredictSummary>(
      "predicting",
      arrow::Status::OutOfMemory("predicting ran out of memory: set `run.memory_limit`, "
                                 "or lower `run.threads`"),
      [&] { return PredictStage(settings, store, task, context).Run(); });
}

}  // namespace coden
