#include "coden/pipeline/predict_pipeline.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <arrow/util/thread_pool.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/plan/resources.h"
#include "coden/read/input_agreement.h"
#include "coden/state/fingerprint.h"
#include "coden/store/commit.h"
#include "coden/store/hasher.h"
#include "coden/store/run_layout.h"
#include "coden/store/run_lock.h"
#include "coden/version.h"
#include "pipeline/embed_part_internal.h"
#include "pipeline/kept_trainings_internal.h"
#include "pipeline/run_setup_internal.h"
#include "pipeline/window_histories_internal.h"

namespace coden {

namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Rebuilding is not what --force is for here.
arrow::Status PointToRun(const arrow::Status& status) {
  constexpr std::string_view kFlag = " with --force";
  std::string text = status.message();
  const std::size_t at = text.find(kFlag);
  if (status.ok() || at == std::string::npos) return status;
  text.replace(at, kFlag.size(), " with `coden run --force`");
  return status.WithMessage(text);
}

// Put the settings that a part was made with in the place of those of now.
arrow::Status UseRecorded(std::string_view parameters, Settings* settings) {
  for (const auto& [key, value] : ReadSettingLines(parameters))
    ARROW_RETURN_NOT_OK(Set(*settings, key, value));
  return arrow::Status::OK();
}

class PredictPart {
 public:
  PredictPart(const Settings& settings, const PredictRequest& request,
              const RunContext& context)
      : settings_(settings), request_(request), context_(context) {}

  arrow::Result<PredictOutcome> Run() {
    ARROW_RETURN_NOT_OK(OpenRun());
    ARROW_RETURN_NOT_OK(UseRecorded(trained_.parameters, &settings_));
    ARROW_RETURN_NOT_OK(ChooseInputs());
    ARROW_RETURN_NOT_OK(PointToRun(
        BringEmbeddingUpToDate({settings_, prints_, *store_, &manifest_, context_}, {})));
    ARROW_RETURN_NOT_OK(MakeWindowHistories(settings_, *store_, &manifest_, context_));
    const double embed_seconds = SecondsSince(start_);

    if (const PartRecord* replaced = manifest_.Find(kPredictPart);
        request_.force && replaced != nullptr) {
      ARROW_RETURN_NOT_OK(KeepChangedFiles(*store_, {*replaced}, context_));
    }
    const PartRecord* found = request_.force ? nullptr : manifest_.Find(kPredictPart);
    const PartRecord earlier = found == nullptr ? PartRecord{} : *found;
    if (found != nullptr) ARROW_RETURN_NOT_OK(CheckFiles(*store_, earlier));
    const auto start = Clock::now();
    ARROW_ASSIGN_OR_RAISE(
        PredictSummary summary,
        request_.predict(settings_, *store_,
                         {trained_, found == nullptr ? nullptr : &earlier, embed_seconds},
                         context_));
    std::vector<PredictedTime> times = summary.times;
    if (!times.empty())
      ARROW_RETURN_NOT_OK(CommitPart(std::move(summary), SecondsSince(start)));
    ARROW_RETURN_NOT_OK(store_->WriteText(RunLayout::kSuccess, {}));
    return PredictOutcome{std::move(manifest_), std::move(times)};
  }

 private:
  arrow::Status NoModel() const {
    return NotInRun(*store_, "trained model", "`coden run` or `coden train`");
  }

  arrow::Status LoadParts() {
    ARROW_ASSIGN_OR_RAISE(const auto loaded, LoadManifest(*store_));
    if (!loaded || loaded->Find(kTrainPart) == nullptr ||
        loaded->Find(kEmbedPart) == nullptr) {
      return NoModel();
    }
    manifest_ = *loaded;
    trained_ = *manifest_.Find(kTrainPart);
    return arrow::Status::OK();
  }

  arrow::Status OpenRun() {
    if (settings_.run.directory.empty())
      return UsageError("say which run predicts: set `run.directory`");
    if (!request_.predict) {
      return UsageError(
          "this program was built without training; build with -Dtrain=enabled");
    }
    ARROW_ASSIGN_OR_RAISE(store_, RunStore::Open(settings_.run.directory));
    // A folder that is no run is not made one.
    ARROW_RETURN_NOT_OK(LoadParts());
    ARROW_RETURN_NOT_OK(store_->Prepare());
    ARROW_ASSIGN_OR_RAISE(lock_, RunLock::Take(*store_));
    ARROW_RETURN_NOT_OK(LoadParts());
    ARROW_RETURN_NOT_OK(Recover(*store_, &manifest_));
    trained_ = *manifest_.Find(kTrainPart);
    return CheckFiles(*store_, trained_);
  }

  // Leave out inputs that the model does not read, and compare those that it does with
  // what it was trained on.
  arrow::Status ChooseInputs() {
    const bool reads_labels = settings_.train.label_columns > 0;
    if (reads_labels && settings_.input.labels.empty()) {
      return UsageError(
          "the model reads the labels of its training (`train.label_columns`): set "
          "`input.labels`");
    }
    if (!reads_labels) {
      settings_.train.split_by = SplitKind::kSeed;
      if (settings_.snapshot.nodes == SnapshotNodes::kAll) settings_.input.labels.clear();
    }
    const PartRecord& embedded = *manifest_.Find(kEmbedPart);
    const std::string keys =
        DifferingSettings(EmbedParameters(settings_), embedded.parameters);
    if (!keys.empty()) {
      return HistoryError(
          "the model in '", store_->Show(),
          "' was trained on snapshots with other settings; give them back, "
          "or make the run anew with `coden run --force`: ",
          keys);
    }
    ARROW_RETURN_NOT_OK(CheckInputsAgree(settings_.input, settings_.graph.events));
    ARROW_ASSIGN_OR_RAISE(prints_, ComputeFingerprints(settings_, manifest_,
                                                       /*known_first=*/true));
    return reads_labels ? CheckLabelsOfTraining() : arrow::Status::OK();
  }

  arrow::Status CheckLabelsOfTraining() const {
    const auto missing = [](const std::vector<InputRecord>& inputs,
                            const std::vector<InputRecord>& in) {
      return std::find_if(inputs.begin(), inputs.end(), [&](const InputRecord& input) {
        return std::none_of(in.begin(), in.end(), [&](const InputRecord& other) {
          return other.role == input.role && other.name == input.name &&
                 other.xxh3 == input.xxh3;
        });
      });
    };
    auto changed = missing(trained_.inputs, prints_.train_inputs);
    if (changed == trained_.inputs.end()) {
      changed = missing(prints_.train_inputs, trained_.inputs);
      if (changed == prints_.train_inputs.end()) return arrow::Status::OK();
    }
    return HistoryError(
        "the labels have changed since the model was trained, and it reads them "
        "(`train.label_columns`); give them back, or train anew with `coden run`: '",
        changed->name, "' of `input.", changed->role, "`");
  }

  arrow::Status CommitPart(PredictSummary summary, double seconds) {
    ARROW_RETURN_NOT_OK(store_->Remove(RunLayout::kSuccess));
    std::int64_t num_snapshots = 0;
    std::int64_t num_predictions = 0;
    for (const PredictedTime& time : summary.times) {
      num_snapshots += time.num_snapshots;
      num_predictions += time.num_nodes;
    }
    PartRecord part;
    part.name = kPredictPart;
    part.version = kVersion;
    const std::string depends_on = prints_.embed + "\n" + trained_.fingerprint;
    part.fingerprint = HashOf(depends_on.data(), depends_on.size());
    part.figures = {{"predict",
                     CountOf(num_snapshots, "snapshots"),
                     CountOf(num_predictions, "predictions"),
                     seconds,
                     /*peak_bytes=*/0,
                     {{"snapshots", num_snapshots}, {"predictions", num_predictions}}}};
    part.notes = std::move(summary.notes);
    part.files = std::move(summary.files);
    if (const PartRecord* replaced = manifest_.Find(kPredictPart);
        request_.force && replaced != nullptr) {
      ARROW_ASSIGN_OR_RAISE(std::string note, KeepForecast(*store_, *replaced, part));
      if (!note.empty()) {
        context_.progress->Note(note);
        part.notes.push_back(std::move(note));
      }
    }
    Manifest next = manifest_;
    next.Replace(std::move(part));
    return Commit(*store_, std::move(next), &manifest_);
  }

  Settings settings_;
  const PredictRequest& request_;
  const RunContext& context_;
  const Clock::time_point start_ = Clock::now();
  std::shared_ptr<RunStore> store_;
  std::unique_ptr<RunLock> lock_;
  Manifest manifest_;
  PartRecord trained_;
  Fingerprints prints_;
};

}  // namespace

arrow::Result<PredictOutcome> PredictPipeline(const Settings& settings,
                                              const PredictRequest& request,
                                              const RunContext& context) {
  // How the model was trained is in the run, whatever is said of training now.
  Settings without_training = settings;
  without_training.train = {};
  without_training.input.split.clear();
  ARROW_RETURN_NOT_OK(Validate(without_training));
  const tbb::global_control tbb_threads(tbb::global_control::max_allowed_parallelism,
                                        static_cast<std::size_t>(NumThreads(settings)));
  ARROW_RETURN_NOT_OK(arrow::SetCpuThreadPoolCapacity(NumThreads(settings)));
  return PredictPart(settings, request, context).Run();
}

}  // namespace coden
