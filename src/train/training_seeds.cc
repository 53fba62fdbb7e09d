#include "train/training_seeds_internal.h"

#include <algorithm>
#include <utility>

#include "coden/pipeline/error.h"
#include "coden/snapshot/snapshot_rows.h"
#include "train/label_history_internal.h"
#include "train/labelled_nodes_internal.h"
#include "train/node_split_internal.h"

namespace coden {

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
  if (!labels.classes->Equals(*config.classes)) {
    return InputError("'", settings.input.labels,
                      "' has other classes than the model has learnt: give back the "
                      "labels, `input.label` and `input.label_time` of its training, or "
                      "train anew with `coden run`");
  }
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
      FoldsOf(split, config.options.label_columns, config.seed);
  std::vector<NodeId> in_graph;
  ARROW_RETURN_NOT_OK(run.inputs.nodes->Find(*nodes.ids, &in_graph));
  return LabelSeeds(nodes.facts, in_graph, folds);
}

}  // namespace coden
