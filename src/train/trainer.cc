// How a model is trained: steps over mini-batches of nodes, each cut into chunks that are
// gathered ahead (chunk_loader.cc) and worked on in parallel.
//
// The same bits come out for any number of threads and ranks: the data alone decide how
// large a chunk is, each draws its dropout from its own generator, and gradients are
// added in the order of the chunks (rank_sum.cc).

#include "train/trainer_internal.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <optional>

#include <ATen/Context.h>
#include <tbb/task_arena.h>
#include <torch/torch.h>

#include "base/random_internal.h"
#include "coden/base/error.h"
#include "train/adam_memory_internal.h"
#include "train/class_counts_internal.h"
#include "train/lessons_internal.h"
#include "train/network_internal.h"
#include "train/orthogonality_internal.h"
#include "train/pair_scorer_internal.h"
#include "train/rank_sum_internal.h"

namespace coden {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The order of mini-batches must not follow from the split, which uses the seed itself.
constexpr std::uint64_t kBatchOrderStream = 0x62617463686573u;

// Runs have consecutive seeds, so lessons must not: no lesson of a run starts with the
// weights of a lesson of another. The first lesson has the seed itself.
std::uint64_t LessonSeed(std::uint64_t seed, int lesson) {
  return seed ^ SplitMix64::Mix(static_cast<std::uint64_t>(lesson));
}

// What a batch adds to the loss of an epoch.
struct LossSum {
  double loss = 0.0;
  double weight = 0.0;
};

class Trainer {
 public:
  Trainer(TrainTask task, const RunContext& context)
      : task_(std::move(task)),
        data_(task_.data),
        options_(task_.options),
        context_(context),
        lessons_(MakeLessons(options_.protocol, data_.num_predictions())),
        classes_(KnownClasses(data_, task_.split, lessons_)),
        memory_(std::move(task_.memory)),
        random_(0) {
    if (memory_.best.empty()) memory_.random = task_.seed ^ kBatchOrderStream;
    random_ = SplitMix64(memory_.random);
  }

  arrow::Result<TrainedModel> Run() {
    TrainedModel model;
    const std::size_t num_pairs = data_.labels.size();
    model.scores = {std::vector<std::int32_t>(num_pairs, -1),
                    std::vector<float>(num_pairs), std::vector<float>(num_pairs)};
    for (int number = 0; number < static_cast<int>(lessons_.size()); ++number) {
      const Lesson& lesson = lessons_[number];
      const bool warm = StartsWarm(options_, classes_, number);
      if (!warm) MakeNetwork(number);
      if (number >= memory_.lesson) ARROW_RETURN_NOT_OK(Learn(lesson, warm));
      // Weights that nothing was learnt for have nothing to say.
      if (classes_[number].empty()) continue;
      ARROW_RETURN_NOT_OK(SetWeights(memory_.best[number].weights));
      if (!HasLearnt(number)) continue;
      ARROW_RETURN_NOT_OK(
          scorer_->Predict(*network_, Times(data_, lesson.predict), model.scores));
    }
    if (!HasLearnt(static_cast<int>(lessons_.size()) - 1)) {
      return InputError(
          "no training node has a label and an event at a prediction time that "
          "`train.protocol` learns from: label more nodes or change `train.split`");
    }
    model.memory = std::move(memory_);
    model.classes = std::move(classes_);
    return model;
  }

 private:
  // Whether the weights with which lesson `number` ends come from training.
  bool HasLearnt(int number) const {
    return StartsWarm(options_, classes_, number) || memory_.best[number].epoch >= 0;
  }

  // A network for the classes that lesson `number` knows, with weights drawn at random.
  void MakeNetwork(int number) {
    scorer_.reset();
    view_.emplace(data_, classes_[number]);
    scorer_.emplace(
        *view_, static_cast<std::size_t>(options_.batch),
        task_.threads > 0 ? task_.threads : tbb::this_task_arena::max_concurrency(),
        context_, task_.ranks);
    if (view_->num_classes() == 0) return;
    torch::manual_seed(LessonSeed(task_.seed, number));
    network_ = std::make_shared<Network>(ShapeOf(*view_), options_);
  }

  arrow::Status SetWeights(const std::vector<NamedTensor>& weights) {
    if (network_->SetWeights(weights)) return arrow::Status::OK();
    return CorruptionError(
        "the state of the interrupted training is not of this model; train anew with "
        "--force");
  }

  // Learn one lesson, or what is left of it.
  arrow::Status Learn(const Lesson& lesson, bool warm) {
    const std::vector<std::int64_t> train_nodes = UsableNodes(lesson, Part::kTrain);
    const std::vector<std::int64_t> validate_nodes = UsableNodes(lesson, Part::kValidate);
    ChooseTimes(lesson, train_nodes);
    memory_.best.resize(static_cast<std::size_t>(memory_.lesson) + 1);
    if (classes_[memory_.lesson].empty()) {
      ++memory_.lesson;
      return arrow::Status::OK();
    }
    class_counts_ = CountClasses(*view_, train_nodes, lesson.learn);
    class_weights_ = torch::Tensor();
    if (options_.class_weights == ClassWeights::kBalanced)
      class_weights_ = torch::tensor(BalancedWeights(class_counts_));
    torch::optim::AdamW optimizer = network_->MakeOptimizer(options_);
    optimizer_ = &optimizer;
    first_rates_.clear();
    for (const auto& group : optimizer.param_groups())
      first_rates_.push_back(group.options().get_lr());
    num_epochs_ = options_.NumEpochs(warm);
    // Where no node validates, as at a time when few have come, the last epoch counts.
    const bool validates = !validate_nodes.empty();
    if (memory_.epoch > 0) {
      ARROW_RETURN_NOT_OK(SetWeights(memory_.weights));
      RestoreAdam(memory_, *network_, optimizer);
    } else {
      memory_.num_steps = 0;
      ARROW_RETURN_NOT_OK(Start(lesson, warm, !train_nodes.empty(),
                                validates ? validate_nodes : Nodes()));
    }
    while (!train_nodes.empty() && !Finished(validates)) {
      const auto start = std::chrono::steady_clock::now();
      EpochRecord record;
      record.lesson = memory_.lesson;
      record.epoch = ++memory_.epoch;
      SetLearningRate(record.epoch);
      ARROW_ASSIGN_OR_RAISE(record.loss, TrainEpoch(train_nodes));
      ARROW_ASSIGN_OR_RAISE(
          record.validate_micro_f1,
          scorer_->MicroF1(*network_, Times(data_, lesson.learn), validate_nodes));
      record.seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      memory_.epochs.push_back(record);
      BestEpoch& best = memory_.best.back();
      if (!validates || best.epoch < 0 ||
          record.validate_micro_f1 > best.validate_micro_f1) {
        best = {record.epoch, record.validate_micro_f1, network_->Weights()};
      }
      if (task_.on_epoch) {
        ARROW_RETURN_NOT_OK(task_.on_epoch(record, [&] { return Memory(optimizer); }));
      }
    }
    ++memory_.lesson;
    memory_.epoch = 0;
    return arrow::Status::OK();
  }

  // Before the first epoch: the weights that are there take part in the choice of the
  // best. With label columns so does plain label propagation, which a network that was
  // drawn at random starts as.
  arrow::Status Start(const Lesson& lesson, bool warm, bool learns,
                      Nodes validate_nodes) {
    const bool from_shares = learns && view_->start_channel() >= 0;
    if (from_shares && !warm) network_->StartFromShares(TieBreak(class_counts_));
    BestEpoch& best = memory_.best.back();
    best = {-1, kNaN, network_->Weights()};
    if (!learns || validate_nodes.empty()) return arrow::Status::OK();
    best.epoch = 0;
    const Times times(data_, lesson.learn);
    ARROW_ASSIGN_OR_RAISE(best.validate_micro_f1,
                          scorer_->MicroF1(*network_, times, validate_nodes));
    if (!from_shares || !warm) return arrow::Status::OK();
    const std::vector<NamedTensor> weights = network_->Weights();
    network_->StartFromShares(TieBreak(class_counts_));
    ARROW_ASSIGN_OR_RAISE(const double propagation,
                          scorer_->MicroF1(*network_, times, validate_nodes));
    if (propagation > best.validate_micro_f1)
      best = {0, propagation, network_->Weights()};
    return SetWeights(weights);
  }

  bool Finished(bool validates) const {
    const int best = memory_.best.back().epoch;
    return memory_.epoch >= num_epochs_ ||
           (validates && options_.patience > 0 && best >= 0 &&
            memory_.epoch - best >= options_.patience);
  }

  TrainerMemory Memory(const torch::optim::AdamW& optimizer) const {
    TrainerMemory memory = memory_;
    memory.random = random_.state();
    memory.weights = network_->Weights();
    SaveAdam(optimizer, *network_, memory);
    return memory;
  }

  void SetLearningRate(int epoch) {
    if (options_.rate_schedule == RateSchedule::kConstant) return;
    const double share =
        0.5 + 0.5 * std::cos(std::numbers::pi * (epoch - 1) / num_epochs_);
    for (std::size_t i = 0; i < first_rates_.size(); ++i)
      optimizer_->param_groups()[i].options().set_lr(share * first_rates_[i]);
  }

  // The times of the lesson at which there is something to learn.
  void ChooseTimes(const Lesson& lesson, Nodes train_nodes) {
    learnable_.clear();
    for (const std::int64_t k : lesson.learn) {
      const auto counts = [&](std::int64_t node) {
        return data_.Counts(node * data_.num_predictions() + k);
      };
      if (std::any_of(train_nodes.begin(), train_nodes.end(), counts))
        learnable_.push_back(k);
    }
  }

  // Some of these times, or all.
  Times DrawTimes() {
    std::vector<std::int64_t> times = learnable_;
    const auto wanted = static_cast<std::size_t>(options_.times_per_step);
    if (wanted > 0 && wanted < times.size()) {
      Shuffle(times, random_);
      times.resize(wanted);
      std::sort(times.begin(), times.end());
    }
    return {data_, std::move(times)};
  }

  // One step of the optimizer.
  arrow::Result<LossSum> Step(ChunkPlan& plan, const ChunkPlan::Batch& batch,
                              const Times& times) {
    // The kernel is made once, and every chunk takes the gradient with respect to it.
    const torch::Tensor prepared = network_->Prepare(times.snapshots);
    torch::Tensor shared;
    std::vector<torch::Tensor> targets;
    if (prepared.defined()) {
      shared = prepared.detach().requires_grad_();
      targets = {shared};
      for (const torch::Tensor& parameter : network_->classifier().parameters())
        targets.push_back(parameter);
    } else {
      targets = network_->parameters();
    }
    const std::size_t num_chunks = batch.end - plan.next();
    std::vector<ChunkSum> sums(num_chunks);
    std::vector<torch::Tensor> gradients(num_chunks);  // of all targets, end to end
    const std::uint64_t dropout_seed = random_.Next();
    ARROW_RETURN_NOT_OK(context_.stop.Poll());
    ARROW_RETURN_NOT_OK(plan.ForEachChunk(
        scorer_->arena(), batch.end,
        [&](Nodes nodes, float* gathered, std::size_t chunk) {
          const ScoredPairs rows = scorer_->Forward(
              *network_, nodes, gathered, plan.num_snapshots(), times, shared,
              /*absent_too=*/false, dropout_seed + batch.first_chunk + chunk);
          if (rows.index.empty()) return;
          const torch::Tensor loss = torch::cross_entropy_loss(
              rows.logits, rows.labels, class_weights_, at::Reduction::Sum,
              /*ignore_index=*/-100, options_.label_smoothing);
          sums[chunk].loss = loss.item<double>();
          sums[chunk].weight =
              class_weights_.defined()
                  ? class_weights_.index_select(0, rows.labels).sum().item<double>()
                  : static_cast<double>(rows.index.size());
          gradients[chunk] = EndToEnd(torch::autograd::grad({loss}, targets));
          sums[chunk].gradient = {gradients[chunk].const_data_ptr<float>(),
                                  static_cast<std::size_t>(gradients[chunk].numel())};
        }));
    std::int64_t length = 0;
    for (const torch::Tensor& target : targets) length += target.numel();
    ARROW_ASSIGN_OR_RAISE(StepSum sum,
                          SumChunks(task_.ranks, sums, static_cast<std::size_t>(length)));
    const LossSum loss{sum.loss, sum.weight};
    if (loss.weight == 0.0 || !std::isfinite(loss.loss)) return loss;
    const torch::Tensor gradient =
        torch::from_blob(sum.gradient.data(), {length}).div(loss.weight);
    gradients.clear();
    std::int64_t begin = 0;
    for (const torch::Tensor& target : targets) {
      gradients.push_back(gradient.narrow(0, begin, target.numel()).view(target.sizes()));
      begin += target.numel();
    }
    if (prepared.defined()) {
      const std::vector<torch::Tensor> temporal = network_->TemporalParameters();
      SetGradients(temporal,
                   torch::autograd::grad({prepared}, temporal, {gradients.front()}));
      targets.erase(targets.begin());
      gradients.erase(gradients.begin());
    }
    SetGradients(targets, gradients);
    if (options_.orthogonality > 0.0) {
      AddOrthogonality(network_->classifier().LinearWeights(), options_.orthogonality,
                       data_.num_predictions());
    }
    ++memory_.num_steps;
    optimizer_->step();
    return loss;
  }

  static torch::Tensor EndToEnd(const std::vector<torch::Tensor>& tensors) {
    std::vector<torch::Tensor> flat;
    flat.reserve(tensors.size());
    for (const torch::Tensor& tensor : tensors) flat.push_back(tensor.reshape({-1}));
    return torch::cat(flat);
  }

  static void SetGradients(const std::vector<torch::Tensor>& parameters,
                           const std::vector<torch::Tensor>& gradients) {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i].mutable_grad() = gradients[i];
  }

  arrow::Result<double> TrainEpoch(Nodes nodes) {
    network_->train();
    std::vector<std::int64_t> order(nodes.begin(), nodes.end());
    Shuffle(order, random_);
    ChunkPlan plan =
        scorer_->MakePlan(order, data_.predictions[learnable_.back()].snapshot);
    LossSum epoch;
    for (const ChunkPlan::Batch& batch : plan.batches()) {
      ARROW_ASSIGN_OR_RAISE(const LossSum sum, Step(plan, batch, DrawTimes()));
      if (!std::isfinite(sum.loss)) return NotFinite();
      epoch.loss += sum.loss;
      epoch.weight += sum.weight;
    }
    return epoch.loss / epoch.weight;
  }

  arrow::Status NotFinite() const {
    char rate[32];
    std::snprintf(rate, sizeof(rate), "%g", options_.learning_rate);
    return arrow::Status::ExecutionError(
        "the training loss is not finite; the steps are probably too long: lower "
        "`train.learning_rate`: ",
        rate, " at epoch ", memory_.epoch, ", step ", memory_.num_steps + 1);
  }

  // Nodes of `part` with a pair that counts in the lesson; the others would only cost
  // time.
  std::vector<std::int64_t> UsableNodes(const Lesson& lesson, Part part) const {
    std::vector<std::int64_t> nodes = NodesOf(task_.split, part);
    std::erase_if(nodes, [&](std::int64_t node) {
      return std::none_of(lesson.learn.begin(), lesson.learn.end(), [&](std::int64_t k) {
        return data_.Counts(node * data_.num_predictions() + k);
      });
    });
    return nodes;
  }

  TrainTask task_;
  const TrainingData& data_;
  const TrainOptions& options_;
  const RunContext& context_;
  const std::vector<Lesson> lessons_;
  std::vector<std::vector<std::int32_t>> classes_;  // by lesson
  // For the classes of the network.
  std::optional<ModelView> view_;
  std::optional<PairScorer> scorer_;
  TrainerMemory memory_;
  SplitMix64 random_;
  std::shared_ptr<Network> network_;
  // Of the lesson:
  torch::optim::AdamW* optimizer_ = nullptr;
  std::vector<double> first_rates_;  // by parameter group
  std::vector<std::int64_t> learnable_;
  std::vector<double> class_counts_;
  torch::Tensor class_weights_;
  int num_epochs_ = 0;
};

}  // namespace

arrow::Result<TrainedModel> TrainModel(TrainTask task, const RunContext& context) {
  UseOneTorchThread();
  at::globalContext().setDeterministicAlgorithms(/*b=*/true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  return Trainer(std::move(task), context).Run();
}

}  // namespace coden
