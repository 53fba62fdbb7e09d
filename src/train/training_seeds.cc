#include "train/training_seeds_internal.h"

#include <algorithm>
#include <utility>

#include "coden/base/error.h"
#include "coden/snapshot/snapshot_rows.h"
#include "train/label_history_internal.h"
#include "train/labelled_nodes_internal.h"
#include "train/node_split_internal.h"

namespace coden {

namespace {

// By class of the labels, the output that the model has for it, or -1. A label of a class
// that it has not learnt, because it came later, has no column.
arrow::Result<std::vector<std::int32_t>> OutputsOf(const arrow::Array& classes,
                                                   const ModelConfig& config,
                                                   const Settings& settings) {
  std::vector<std::int32_t> outputs(static_cast<std::size_t>(classes.length()), -1);
  for (std::int64_t output = 0; output < config.classes->length(); ++output) {
    std::int64_t label = 0;
    while (label < classes.length() &&
           !classes.RangeEquals(*config.classes, label, label + 1, output)) {
      ++label;
    }
    if (label == classes.length()) {
      return InputError("'", settings.input.labels,
                        "' lacks a class that the model has learnt: give back the "
                        "labels, `input.label` and `input.label_time` of its training, "
                        "or train anew with `coden run`");
    }
    outputs[label] = static_cast<std::int32_t>(output);
  }
  return outputs;
}

}  // namespace

arrow::Result<std::vector<LabelSeed>> TrainingSeeds(const Settings& settings,
                                                    const RunStore& store,
                                                    const CommittedRun& run,
                                                    const ModelConfig& config) {
  // The last prediction time of the training, which chose the nodes; a rolling model has
  // predicted one more than it has learnt from.
  const int ahead = settings.train.protocol == Protocol::kRolling ? 1 : 0;
  const auto last = std::find_if(
      run.schedule.begin(), run.schedule.end(), [&](const SchedulePoint& point) {
        return point.at_prediction && point.prediction == config.prediction + ahead;
      });
  if (last == run.schedule.end()) {
    return CorruptionError("the model has learnt from prediction time ",
                           config.prediction, ", which the run does not have: '",
                           store.Show(), "'");
  }
  ARROW_ASSIGN_OR_RAISE(Labels labels, ReadLabels(settings.input));
  ARROW_ASSIGN_OR_RAISE(const std::vector<std::int32_t> outputs,
                        OutputsOf(*labels.classes, config, settings));
  SnapshotReader reader(store);
  ARROW_ASSIGN_OR_RAISE(const SnapshotRows rows, reader.Read(*last));
  ARROW_ASSIGN_OR_RAISE(LabelledNodes nodes,
                        FindLabelledNodes(std::move(labels), store, *rows.nodes()));
  // A node that had no event when the split was made may have one by now.
  for (EventTime& first : nodes.first_events) {
    if (first > last->time) first = kNeverSeen;
  }
  ARROW_ASSIGN_OR_RAISE(
      const std::vector<Part> split,
      SplitLabelled(settings, *nodes.ids, nodes.first_events, config.seed));
  const std::vector<int> folds =
      FoldsOf(split, NodeKeys(*nodes.ids), config.options.label_columns, config.seed);
  std::vector<NodeId> in_graph;
  ARROW_RETURN_NOT_OK(run.inputs.nodes->Find(*nodes.ids, &in_graph));
  std::vector<LabelSeed> seeds = LabelSeeds(nodes.facts, in_graph, folds);
  for (LabelSeed& seed : seeds) seed.label = outputs[seed.label];
  return seeds;
}

}  // namespace coden
