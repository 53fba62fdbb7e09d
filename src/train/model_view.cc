#include "train/model_view_internal.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace coden {

namespace {

std::vector<std::int32_t> AllClasses(int num_classes) {
  std::vector<std::int32_t> classes(static_cast<std::size_t>(num_classes));
  std::iota(classes.begin(), classes.end(), 0);
  return classes;
}

}  // namespace

std::vector<std::vector<std::int32_t>> KnownClasses(const TrainingData& data,
                                                    std::span<const Part> split,
                                                    std::span<const Lesson> lessons) {
  // By class, the first prediction time at which a training node has it.
  std::vector<std::int64_t> first(static_cast<std::size_t>(data.num_classes),
                                  data.num_predictions());
  for (std::int64_t node = 0; node < data.num_nodes; ++node) {
    if (split[node] != Part::kTrain) continue;
    for (std::int64_t k = 0; k < data.num_predictions(); ++k) {
      const std::int64_t pair = node * data.num_predictions() + k;
      if (!data.Counts(pair)) continue;
      std::int64_t& known = first[data.labels[pair]];
      known = std::min(known, k);
    }
  }
  std::vector<std::vector<std::int32_t>> by_lesson;
  for (const Lesson& lesson : lessons) {
    std::vector<std::int32_t>& known = by_lesson.emplace_back();
    for (int label = 0; label < data.num_classes; ++label)
      if (first[label] <= lesson.learn.back()) known.push_back(label);
  }
  return by_lesson;
}

ModelView::ModelView(const TrainingData& data, std::vector<std::int32_t> classes)
    : data_(data),
      classes_(std::move(classes)),
      outputs_(static_cast<std::size_t>(data.num_classes), -1) {
  for (std::size_t i = 0; i < classes_.size(); ++i)
    outputs_[classes_[i]] = static_cast<std::int32_t>(i);
  for (const auto& group : data.channels) groups_.push_back(group->shape().channels);
  if (data.label_blocks > 0) {
    groups_.back() = std::int64_t{2} * data.label_blocks * num_classes();
    start_channel_ = std::accumulate(groups_.begin(), groups_.end() - 1,
                                     std::int64_t{2} * data.start_block * num_classes());
  }
  num_channels_ = std::accumulate(groups_.begin(), groups_.end(), std::int64_t{0});
}

ModelView::ModelView(const TrainingData& data)
    : ModelView(data, AllClasses(data.num_classes)) {}

arrow::Status ModelView::Read(std::int64_t node, std::int64_t num_snapshots,
                              float* out) const {
  const bool choose = data_.label_blocks > 0 && !knows_all();
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const NodeHistory& history = *data_.channels[group];
    if (!choose || group + 1 < groups_.size()) {
      ARROW_RETURN_NOT_OK(history.Read(node, num_snapshots, out));
      out += groups_[group] * num_snapshots;
      continue;
    }
    std::vector<float> all(
        static_cast<std::size_t>(history.shape().channels * num_snapshots));
    ARROW_RETURN_NOT_OK(history.Read(node, num_snapshots, all.data()));
    // A block is the shares of all classes, then their evidence.
    for (std::int64_t part = 0; part < std::int64_t{2} * data_.label_blocks; ++part) {
      for (const std::int32_t label : classes_) {
        const std::int64_t channel = part * data_.num_classes + label;
        out = std::copy_n(all.data() + channel * num_snapshots, num_snapshots, out);
      }
    }
  }
  return arrow::Status::OK();
}

}  // namespace coden
