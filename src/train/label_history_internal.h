#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/embed/label_embedder.h"
#include "coden/settings/settings.h"
#include "coden/state/committed_run.h"
#include "coden/store/run_store.h"
#include "train/training_input_internal.h"

namespace coden {

/// The label columns that `settings` ask for, with `num_classes` classes.
LabelEmbedderOptions LabelColumns(const Settings& settings, int num_classes,
                                  const RunContext& context);

/// What the training labels are to the columns: a seed for every fact of a node with a
/// fold. `nodes` are the data's nodes in the graph.
std::vector<LabelSeed> LabelSeeds(std::span<const LabelFact> facts,
                                  std::span<const NodeId> nodes,
                                  std::span<const int> folds);

/// Turn what reaches a node, `num_classes` numbers for every window and alpha, into what
/// a model reads: for every window and alpha the shares of the classes, which say what,
/// and log(1 + 10 value), which says how much. Negative values count as 0, and shares
/// fade out below a sum of 1e-6. Writes twice as many numbers.
void ReadLabelRow(std::span<const float> values, int num_classes, float* out);

/// Let the labels of the training nodes travel through the graph once more, and collect
/// what reaches every node of `input` at every snapshot that it holds. `folds` is -1 for
/// nodes that do not train.
arrow::Result<std::shared_ptr<const NodeHistory>> MakeLabelHistory(
    const Settings& settings, const RunStore& store, const TrainingInput& input,
    std::span<const int> folds, const RunContext& context);

}  // namespace coden
