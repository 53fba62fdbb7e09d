#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/plan/training_needs.h"
#include "coden/sample/schedule.h"
#include "coden/settings/settings.h"
#include "coden/snapshot/snapshot_cache.h"
#include "coden/store/run_store.h"
#include "train/node_split_internal.h"
#include "train/training_data_internal.h"

namespace coden {

/// What is known of a node's class, and since when.
struct LabelFact {
  std::int64_t node = 0;  ///< of the training data
  std::int32_t label = 0;
  EventTime from = 0;  ///< Labels::kAlways where labels have no times
};

/// The training data of a run, with what is needed to speak of it in the user's terms.
struct TrainingInput {
  TrainingData data;
  Schedule snapshots;                      ///< those that data holds, in order of time
  std::shared_ptr<arrow::Array> node_ids;  ///< of data's nodes, in their order
  std::shared_ptr<arrow::Array> classes;   ///< by the numbers that data.labels holds
  std::vector<LabelFact> facts;            ///< by node, then time
  /// The end of the initial graph; where that is empty, the last time before the first
  /// prediction time.
  EventTime before_first = 0;
  std::vector<EventTime> first_events;  ///< by node; kNeverSeen where it has none
  std::int64_t num_unknown = 0;         ///< labelled nodes that are in no snapshot
  /// Of the feature columns, over the nodes present at the first prediction time.
  std::vector<float> feature_mean;
  std::vector<float> feature_deviation;
  TrainingNeeds needs;
};

/// Read the snapshots that a model needs, the labels, the nodes' first events and, where
/// the model reads them, features. Nodes stand in the order of the labels file.
///
/// Holds the embeddings of labelled nodes and one snapshot at a time, with the full one
/// it rests on where it has only the rows that moved. Where `run.memory_limit` is too
/// small for the embeddings they wait in a temporary file. Snapshots in `cache`, where
/// there is one, are taken from there, and dropped.
arrow::Result<TrainingInput> LoadTrainingInput(const Settings& settings,
                                               const RunStore& store,
                                               const RunContext& context,
                                               SnapshotCache* cache = nullptr);

}  // namespace coden
