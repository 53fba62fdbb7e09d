#pragma once

#include <cstdint>
#include <memory>

#include <arrow/array.h>
#include <arrow/result.h>

#include "coden/pipeline/progress.h"
#include "coden/pipeline/settings.h"
#include "coden/store/run_store.h"
#include "train/training_data_internal.h"

namespace coden {

/// The training data of a run, with what is needed to speak of it in the user's terms.
struct TrainingInput {
  TrainingData data;
  std::shared_ptr<arrow::Array> node_ids;  ///< of data's nodes, in their order
  std::shared_ptr<arrow::Array> classes;   ///< by the numbers that data.labels holds
  std::int64_t num_unknown = 0;            ///< labelled nodes that are in no snapshot
};

/// Read the snapshots that a model needs, the labels and the nodes' first events. Nodes
/// stand in the order of the labels file.
///
/// Holds the embeddings of labelled nodes and one snapshot at a time, with the full one
/// it rests on where it has only the rows that moved; what the embeddings take is
/// compared with `run.memory_limit` before it is allocated.
arrow::Result<TrainingInput> LoadTrainingInput(const Settings& settings,
                                               const RunStore& store,
                                               const RunContext& context);

}  // namespace coden
