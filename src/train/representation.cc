#include "train/representation_internal.h"

#include <algorithm>

#include <tbb/task_arena.h>

#include "coden/base/error.h"
#include "train/lessons_internal.h"
#include "train/network_internal.h"
#include "train/pair_scorer_internal.h"

namespace coden {

struct Representation::State {
  const TrainingData& data;
  const TrainOptions& options;
  const TrainedModel& model;
  const RunContext& context;
  int threads;
  std::vector<Lesson> lessons;
};

Representation::Representation(const TrainingData& data, const TrainOptions& options,
                               int threads, const TrainedModel& model,
                               const RunContext& context)
    : state_(new State{data, options, model, context,
                       threads > 0 ? threads : tbb::this_task_arena::max_concurrency(),
                       MakeLessons(options.protocol, data.num_predictions())}) {
  UseOneTorchThread();
}

Representation::~Representation() = default;

arrow::Result<std::vector<float>> Representation::At(std::int64_t k) {
  const auto predicts = [k](const Lesson& lesson) {
    return std::find(lesson.predict.begin(), lesson.predict.end(), k) !=
           lesson.predict.end();
  };
  const auto lesson =
      std::find_if(state_->lessons.begin(), state_->lessons.end(), predicts);
  if (lesson == state_->lessons.end()) return std::vector<float>();
  const auto number = static_cast<std::size_t>(lesson - state_->lessons.begin());
  const ModelView view(state_->data, state_->model.classes[number]);
  if (view.num_classes() == 0) return std::vector<float>();
  Network network(ShapeOf(view), state_->options);
  if (!network.SetWeights(state_->model.memory.best[number].weights))
    return arrow::Status::Invalid("the weights are not of this model");
  return PairScorer(view, static_cast<std::size_t>(state_->options.batch),
                    state_->threads, state_->context)
      .Represent(network, k);
}

}  // namespace coden
