#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/status.h>

#include "train/lessons_internal.h"
#include "train/node_split_internal.h"
#include "train/training_data_internal.h"

namespace coden {

/// By lesson, the classes that its model knows, ascending: those of the pairs of a
/// training node and a prediction time that count, up to the last time that the lesson
/// learns from. A class that comes later has no part in the model.
std::vector<std::vector<std::int32_t>> KnownClasses(const TrainingData& data,
                                                    std::span<const Part> split,
                                                    std::span<const Lesson> lessons);

/// Training data as a model sees it that knows some of the classes: the others have no
/// output and no label columns. What the model computes then does not depend on them, not
/// even in its rounding.
class ModelView {
 public:
  /// `data` must outlive the view; `classes` ascend.
  ModelView(const TrainingData& data, std::vector<std::int32_t> classes);
  /// Know all classes.
  explicit ModelView(const TrainingData& data);

  const TrainingData& data() const { return data_; }
  const std::vector<std::int32_t>& classes() const { return classes_; }
  int num_classes() const { return static_cast<int>(classes_.size()); }
  /// The output for a class of the data, or -1.
  std::int32_t OutputOf(std::int32_t label) const { return outputs_[label]; }

  /// Channels of each group (NetworkShape).
  const std::vector<std::int64_t>& groups() const { return groups_; }
  std::int64_t num_channels() const { return num_channels_; }
  /// The first of the channels that a model starts from (NetworkShape); -1: none.
  std::int64_t start_channel() const { return start_channel_; }

  /// Write the first `num_snapshots` of the channels of `node`, [channels,
  /// num_snapshots]. Safe from many threads.
  arrow::Status Read(std::int64_t node, std::int64_t num_snapshots, float* out) const;

 private:
  bool knows_all() const { return num_classes() == data_.num_classes; }

  const TrainingData& data_;
  std::vector<std::int32_t> classes_;
  std::vector<std::int32_t> outputs_;
  std::vector<std::int64_t> groups_;
  std::int64_t num_channels_ = 0;
  std::int64_t start_channel_ = -1;
};

}  // namespace coden
