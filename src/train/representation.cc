#include "train/representation_internal.h"

#include <algorithm>

#include <tbb/task_arena.h>

#include "coden/pipeline/error.h"
#include "train/lessons_internal.h"
#include "train/network_internal.h"
#include "train/pair_scorer_internal.h"

namespace coden {

struct Representation::State {
  const TrainedModel& model;
  std::vector<Lesson> lessons;
  PairScorer scorer;
  Network network;
};

namespace {

NetworkShape ShapeOf(const TrainingData& data) {
  NetworkShape shape;
  for (const auto& group : data.channels)
    shape.channels.push_back(group->shape().channels);
  shape.features = data.features.width;
  shape.num_classes = data.num_classes;
  return shape;
}

}  // namespace

Representation::Representation(const TrainingData& data, const TrainOptions& options,
                               int threads, const TrainedModel& model,
                               const RunContext& context)
    : state_(new State{
          model, MakeLessons(options.protocol, data.num_predictions()),
          PairScorer(data, static_cast<std::size_t>(options.batch),
                     threads > 0 ? threads : tbb::this_task_arena::max_concurrency(),
                     context),
          Network(ShapeOf(data), options)}) {
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
  const BestEpoch& best =
      state_->model.memory
          .best[static_cast<std::size_t>(lesson - state_->lessons.begin())];
  if (!state_->network.SetWeights(best.weights))
    return arrow::Status::Invalid("the weights are not of this model");
  return state_->scorer.Represent(state_->network, k);
}

}  // namespace coden
