#include "coden/train/train.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <new>

#include <c10/util/Exception.h>

#include "coden/pipeline/error.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "train/metrics_internal.h"
#include "train/model_files_internal.h"
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
      return UsageError("`train.split` leaves no node to ", verb, ": there are ",
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
  TrainStage(const Settings& settings, RunStore& store, const RunContext& context)
      : settings_(settings), context_(context), store_(store) {}

  arrow::Result<TrainSummary> Run() {
    ARROW_ASSIGN_OR_RAISE(input_, LoadTrainingInput(settings_, store_, context_));
    if (input_.num_unknown > 0) {
      context_.progress->Note("labels of nodes that are in no snapshot are left out: " +
                              std::to_string(input_.num_unknown));
    }
    ARROW_ASSIGN_OR_RAISE(predictions_, ParquetFileWriter::Stage(
                                            store_, RunLayout::kPredictions,
                                            PredictionsSchema(input_.node_ids->type(),
                                                              input_.classes->type())));
    const int epochs = settings_.train.epochs;
    context_.progress->Begin("train", "epochs",
                             static_cast<std::int64_t>(epochs) * settings_.train.runs);
    for (int run = 0; run < settings_.train.runs; ++run) {
      ARROW_RETURN_NOT_OK(RunOnce(run));
      context_.progress->Advance(static_cast<std::int64_t>(run + 1) * epochs);
    }
    TrainSummary summary = Summarise();
    ARROW_ASSIGN_OR_RAISE(summary.files, WriteFiles());
    char line[160];
    std::snprintf(line, sizeof(line),
                  "test Micro-F1 %.4f over %d prediction times, %lld labelled nodes, "
                  "%d run%s",
                  summary.micro_f1_average, summary.num_predictions,
                  static_cast<long long>(summary.num_labelled), settings_.train.runs,
                  settings_.train.runs == 1 ? "" : "s");
    context_.progress->End(line);
    return summary;
  }

 private:
  arrow::Status RunOnce(int run) {
    const std::uint64_t seed = settings_.run.seed + static_cast<std::uint64_t>(run);
    const TrainingData& data = input_.data;
    const auto split = SplitNodes(data.num_nodes, settings_.train.split, seed);
    ARROW_RETURN_NOT_OK(CheckSplit(data, split));
    const std::int64_t epochs_before =
        static_cast<std::int64_t>(run) * settings_.train.epochs;
    ARROW_ASSIGN_OR_RAISE(
        TrainedModel model,
        TrainModel(data, split, settings_.train, seed, settings_.run.threads, context_,
                   [&](const EpochRecord& record) {
                     metrics_log_ += MetricsLine(run, record);
                     context_.progress->Advance(epochs_before + record.epoch);
                   }));
    metrics_.push_back(ScorePredictions(data, split, model.scores));
    for (std::int64_t k = 0; k < data.num_predictions(); ++k) {
      ARROW_ASSIGN_OR_RAISE(const auto batch,
                            PredictionsBatch(input_, split, model.scores, run, k));
      if (batch->num_rows() > 0) ARROW_RETURN_NOT_OK(predictions_->Write(*batch));
    }
    // The model that is kept is the one of the run that validates best.
    if (run == 0 || model.validate_micro_f1 > best_validate_micro_f1_) {
      best_validate_micro_f1_ = model.validate_micro_f1;
      weights_ = ToSafetensors(model.weights);
      config_ = ModelConfig(input_, settings_.train, model, run, seed);
    }
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
    return summary;
  }

  const Settings& settings_;
  const RunContext& context_;
  RunStore& store_;
  TrainingInput input_;
  std::unique_ptr<ParquetFileWriter> predictions_;
  std::vector<std::vector<PredictionMetrics>> metrics_;  // one element per run
  std::string metrics_log_;
  double best_validate_micro_f1_ = kNaN;
  std::string weights_;
  std::string config_;
};

}  // namespace

arrow::Result<TrainSummary> Train(const Settings& settings, RunStore& store,
                                  const RunContext& context) {
  try {
    return TrainStage(settings, store, context).Run();
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    if (what.find("allocate memory") != std::string::npos) return OutOfMemory();
    return arrow::Status::UnknownError("LibTorch failed while training: ", what);
  } catch (const std::exception& error) {
    return arrow::Status::UnknownError("training failed: ", error.what());
  }
}

}  // namespace coden
