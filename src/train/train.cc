#include "coden/train/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "coden/train/rank_group.h"
#include "settings/label_columns_internal.h"
#include "store/machine_memory_internal.h"
#include "train/checkpoint_internal.h"
#include "train/controls_internal.h"
#include "train/energy_internal.h"
#include "train/fence_internal.h"
#include "train/label_history_internal.h"
#include "train/lessons_internal.h"
#include "train/metrics_internal.h"
#include "train/model_files_internal.h"
#include "train/model_view_internal.h"
#include "train/representation_internal.h"
#include "train/safetensors_internal.h"
#include "train/train_files_internal.h"
#include "train/trainer_internal.h"
#include "train/training_input_internal.h"

namespace coden {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

arrow::Status OutOfMemory() {
  return arrow::Status::OutOfMemory(
      "training ran out of memory: raise `sample.lambda` for fewer snapshots, or lower "
      "`run.threads` or `train.hidden`");
}

// Every part must have a pair that counts: a node with a label and an event by some t_k.
arrow::Status CheckSplit(const TrainingData& data, std::span<const Part> split) {
  const auto check = [&](Part part, const char* verb) {
    const std::vector<std::int64_t> nodes = NodesOf(split, part);
    if (nodes.empty()) {
      return UsageError("`train.split` leaves no node to ", verb,
                        ": raise that share, take another `run.seed`, or name the parts "
                        "in `input.split`: there are ",
                        data.num_nodes, " labelled nodes in the snapshots");
    }
    for (const std::int64_t node : nodes) {
      for (std::int64_t k = 0; k < data.num_predictions(); ++k) {
        const std::int64_t pair = node * data.num_predictions() + k;
        if (data.labels[pair] >= 0 && data.present[pair] != 0) return arrow::Status::OK();
      }
    }
    return InputError("no node to ", verb, " has a label and an event by a prediction ",
                      "time: label more nodes or change `train.split`: ", nodes.size(),
                      " nodes");
  };
  ARROW_RETURN_NOT_OK(check(Part::kTrain, "train on"));
  ARROW_RETURN_NOT_OK(check(Part::kValidate, "validate on"));
  return check(Part::kTest, "test on");
}

class TrainStage {
 public:
  TrainStage(const Settings& settings, RunStore& store, const TrainMemory& memory,
             const RunContext& context)
      : settings_(settings),
        store_(store),
        memory_(memory),
        context_(context),
        writes_(memory.ranks == nullptr || memory.ranks->rank() == 0) {}

  arrow::Result<TrainSummary> Run() {
    if (!memory_.saved.empty()) {
      ARROW_ASSIGN_OR_RAISE(
          runs_, CheckpointFromBytes(memory_.saved, store_.Show(RunLayout::kTraining)));
    }
    ARROW_ASSIGN_OR_RAISE(
        input_, LoadTrainingInput(settings_, store_, context_, memory_.snapshots));
    if (input_.num_unknown > 0)
      Note("labels of nodes that are in no snapshot are left out: ", input_.num_unknown);
    if (writes_) {
      ARROW_ASSIGN_OR_RAISE(predictions_, ParquetFileWriter::Stage(
                                              store_, RunLayout::kPredictions,
                                              PredictionsSchema(input_.node_ids->type(),
                                                                input_.classes->type())));
    }
    for (int run = 0; run < settings_.train.runs; ++run)
      ARROW_RETURN_NOT_OK(RunOnce(run));
    if (!writes_) return TrainSummary{};
    AddGains(metrics_);
    for (std::size_t run = 0; run < metrics_.size(); ++run) {
      for (const PredictionMetrics& metrics : metrics_[run])
        metrics_log_ += ControlsLine(static_cast<int>(run), metrics);
    }
    NoteControls();
    TrainSummary summary = Summarise();
    ARROW_ASSIGN_OR_RAISE(summary.files, WriteFiles());
    return summary;
  }

 private:
  void Note(const std::string& what, std::int64_t count) {
    notes_.push_back(what + FormatCount(count));
    context_.progress->Note(notes_.back());
  }

  arrow::Status RunOnce(int run) {
    const std::uint64_t seed = settings_.run.seed + static_cast<std::uint64_t>(run);
    ARROW_ASSIGN_OR_RAISE(
        const std::vector<Part> split,
        SplitLabelled(settings_, *input_.node_ids, input_.first_events, seed));
    ARROW_RETURN_NOT_OK(CheckSplit(input_.data, split));
    if (run == 0) NoteOddities(split);
    // Label columns are of this split alone.
    TrainingData& data = input_.data;
    const std::size_t num_groups = data.channels.size();
    const auto forget_labels = [&] {
      data.channels.resize(num_groups);
      data.label_blocks = 0;
    };
    if (settings_.train.label_columns > 0) {
      const std::vector<int> folds =
          FoldsOf(split, NodeKeys(*input_.node_ids), settings_.train.label_columns, seed);
      ARROW_ASSIGN_OR_RAISE(auto history,
                            MakeLabelHistory(settings_, store_, input_, folds, context_));
      data.channels.push_back(std::move(history));
      const LabelColumnShape shape = ResolveLabelColumns(settings_);
      data.label_blocks = shape.num_blocks();
      data.start_block = shape.start_block();
      ReturnFreeMemory();  // of the engines
    }
    ARROW_ASSIGN_OR_RAISE(const TrainedModel model, Learn(run, seed, data, split));
    if (!writes_) {
      forget_labels();
      return arrow::Status::OK();
    }
    ReturnFreeMemory();  // of the learning
    for (const EpochRecord& record : model.memory.epochs)
      metrics_log_ += MetricsLine(run, record);
    metrics_.push_back(ScorePredictions(data, split, model.scores));
    ARROW_ASSIGN_OR_RAISE(const Controls controls,
                          MakeControls(settings_, store_, input_, split, context_));
    ScoreControls(data, split, controls, metrics_.back());
    if (settings_.train.energy) ARROW_RETURN_NOT_OK(AddEnergy(model));
    forget_labels();
    ReturnFreeMemory();
    for (std::int64_t k = 0; k < data.num_predictions(); ++k) {
      ARROW_ASSIGN_OR_RAISE(const auto batch,
                            PredictionsBatch(input_, split, model.scores, run, k));
      if (batch->num_rows() > 0) ARROW_RETURN_NOT_OK(predictions_->Write(*batch));
    }
    // The model that is kept is the one of the run that validates best.
    if (run == 0 || std::isnan(best_validate_micro_f1_) ||
        model.latest().validate_micro_f1 > best_validate_micro_f1_) {
      best_validate_micro_f1_ = model.latest().validate_micro_f1;
      ARROW_RETURN_NOT_OK(KeepModel(model, run, seed));
    }
    return arrow::Status::OK();
  }

  // Into the metrics of the run that is last.
  arrow::Status AddEnergy(const TrainedModel& model) {
    Representation representation(input_.data, settings_.train, settings_.run.threads,
                                  model, context_);
    ARROW_ASSIGN_OR_RAISE(
        const std::vector<Energy> energies,
        MeasureEnergy(
            settings_, store_, input_,
            [&](std::int64_t k) { return representation.At(k); }, context_));
    for (PredictionMetrics& metrics : metrics_.back()) {
      for (std::size_t k = 0; k < energies.size(); ++k) {
        if (input_.data.predictions[k].prediction != metrics.prediction ||
            std::isnan(energies[k].energy)) {
          continue;
        }
        metrics.dirichlet_energy = energies[k].energy;
        metrics.relative_energy = energies[k].relative();
      }
    }
    if (metrics_.size() == 1 && !energies.empty() && energies.back().left_out > 0) {
      Note("arcs to nodes without a label are left out of the energy: ",
           energies.back().left_out);
    }
    return arrow::Status::OK();
  }

  arrow::Result<TrainedModel> Learn(int run, std::uint64_t seed, const TrainingData& data,
                                    std::span<const Part> split) {
    // Epochs before each lesson, and in all.
    std::vector<std::int64_t> before = {0};
    const std::vector<std::vector<std::int32_t>> classes = KnownClasses(
        data, split, MakeLessons(settings_.train.protocol, data.num_predictions()));
    for (int lesson = 0; lesson < static_cast<int>(classes.size()); ++lesson)
      before.push_back(before.back() + settings_.train.NumEpochs(
                                           StartsWarm(settings_.train, classes, lesson)));
    TrainTask task{data, split, settings_.train, seed, settings_.run.threads};
    const auto number = static_cast<std::size_t>(run);
    if (runs_.size() <= number) runs_.resize(number + 1);
    task.memory = runs_[number];
    task.ranks = memory_.ranks;
    if (!task.memory.epochs.empty()) {
      context_.progress->Note(
          "training: going on after " +
          CountOf(static_cast<std::int64_t>(task.memory.epochs.size()),
                  "epochs of run ") +
          std::to_string(run + 1));
    }
    context_.progress->Begin(settings_.train.runs == 1
                                 ? "train"
                                 : "train " + std::to_string(run + 1) + "/" +
                                       std::to_string(settings_.train.runs),
                             "epochs", before.back());
    task.on_epoch = [&](const EpochRecord& record,
                        const std::function<TrainerMemory()>& remember) {
      context_.progress->Say("loss " + FormatFixed(record.loss, 4) + ", validation " +
                             FormatFixed(100.0 * record.validate_micro_f1, 2) + " %");
      context_.progress->Advance(before[record.lesson] + record.epoch);
      const auto now = std::chrono::steady_clock::now();
      if (!memory_.save ||
          now - last_save_ < std::chrono::seconds(settings_.run.commit_interval)) {
        return arrow::Status::OK();
      }
      runs_[number] = remember();
      last_save_ = now;
      return memory_.save(CheckpointToBytes(runs_));
    };
    ARROW_ASSIGN_OR_RAISE(TrainedModel model, TrainModel(std::move(task), context_));
    runs_[number] = model.memory;
    context_.progress->End(
        "validation " + FormatFixed(100.0 * model.latest().validate_micro_f1, 2) +
        " % after " +
        CountOf(static_cast<std::int64_t>(model.memory.epochs.size()), "epochs"));
    return model;
  }

  // Classes that nobody can learn are not an error, but worth knowing.
  void NoteOddities(std::span<const Part> split) {
    const TrainingData& data = input_.data;
    std::vector<bool> learnt(static_cast<std::size_t>(data.num_classes));
    std::vector<bool> wanted(learnt.size());
    for (std::size_t pair = 0; pair < data.labels.size(); ++pair) {
      if (data.labels[pair] < 0) continue;
      const Part part = split[pair / data.predictions.size()];
      if (part == Part::kTrain) learnt[data.labels[pair]] = true;
      if (part == Part::kTest) wanted[data.labels[pair]] = true;
    }
    std::int64_t unseen = 0;
    for (std::size_t i = 0; i < learnt.size(); ++i) unseen += wanted[i] && !learnt[i];
    if (unseen > 0)
      Note("classes of test nodes that no training node has, so never predicted: ",
           unseen);
    const auto unused = std::count(split.begin(), split.end(), Part::kUnused);
    if (unused > 0) {
      Note(settings_.train.split_by == SplitKind::kFile
               ? "labelled nodes that `input.split` does not name are left out: "
               : "labelled nodes without an event are left out: ",
           unused);
    }
  }

  // A score says little without what simple methods reach.
  void NoteControls() {
    const std::optional<std::string> note = CompareWithControls(settings_, metrics_);
    if (!note) return;
    notes_.push_back(*note);
    context_.progress->Warn(*note);
  }

  arrow::Status KeepModel(const TrainedModel& model, int run, std::uint64_t seed) {
    std::vector<NamedTensor> tensors = model.latest().weights;
    const std::int64_t width = input_.data.features.width;
    if (width > 0) {
      tensors.push_back({kFeatureMean, {width}, input_.feature_mean});
      tensors.push_back({kFeatureDeviation, {width}, input_.feature_deviation});
    }
    weights_ = ToSafetensors(tensors);
    ARROW_ASSIGN_OR_RAISE(const ModelConfig config,
                          DescribeModel(input_, settings_, model, run, seed));
    config_ = ToJson(config);
    return arrow::Status::OK();
  }

  arrow::Result<std::vector<FileRecord>> WriteFiles() {
    std::vector<FileRecord> files;
    ARROW_ASSIGN_OR_RAISE(files.emplace_back(), predictions_->Close());
    ARROW_ASSIGN_OR_RAISE(const auto metrics, MetricsBatch(metrics_));
    ARROW_ASSIGN_OR_RAISE(files.emplace_back(),
                          StageParquetFile(store_, RunLayout::kMetrics, *metrics));
    for (const auto& [name, bytes] : {std::pair(RunLayout::kMetricsLog, &metrics_log_),
                                      std::pair(RunLayout::kModelWeights, &weights_),
                                      std::pair(RunLayout::kModelConfig, &config_)}) {
      ARROW_ASSIGN_OR_RAISE(files.emplace_back(), store_.StageText(name, *bytes));
    }
    return files;
  }

  TrainSummary Summarise() const {
    TrainSummary summary;
    summary.num_labelled = input_.data.num_nodes;
    summary.num_unknown = input_.num_unknown;
    summary.num_predictions = static_cast<int>(input_.data.num_predictions());
    for (const auto& run : metrics_) summary.micro_f1_average += AverageMicroF1(run);
    summary.micro_f1_average /= static_cast<double>(metrics_.size());
    summary.notes = notes_;
    return summary;
  }

  const Settings& settings_;
  RunStore& store_;
  const TrainMemory& memory_;
  const RunContext& context_;
  const bool writes_;  // of several ranks one does
  TrainingInput input_;
  std::vector<TrainerMemory> runs_;  // as far as they have come
  std::chrono::steady_clock::time_point last_save_ = std::chrono::steady_clock::now();
  std::unique_ptr<ParquetFileWriter> predictions_;
  std::vector<std::vector<PredictionMetrics>> metrics_;  // one element per run
  std::vector<std::string> notes_;
  std::string metrics_log_;
  double best_validate_micro_f1_ = kNaN;
  std::string weights_;
  std::string config_;
};

}  // namespace

arrow::Result<TrainSummary> Train(const Settings& settings, RunStore& store,
                                  const TrainMemory& memory, const RunContext& context) {
  return WithinFence<TrainSummary>("training", OutOfMemory(), [&] {
    return TrainStage(settings, store, memory, context).Run();
  });
}

}  // namespace coden
