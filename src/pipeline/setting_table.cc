// The declaration of every setting. To add one: add the member to its options struct and
// one line to the table below. Everything else follows from the table.

#include <vector>

#include "coden/pipeline/settings.h"

#include "pipeline/declare_option_internal.h"
#include "pipeline/setting_value_internal.h"

namespace coden {

namespace {

template <typename Access, typename Value>
Setting Declare(const char* key, Access access, const Value& value, const char* help) {
  return DeclareOption<Settings>(key, access, value, help);
}

#define CODEN_MEMBER(section, member) \
  #section "." #member, [](Settings& s) -> auto& { return s.section.member; }

std::vector<Setting> DeclareAll() {
  using namespace setting_value;
  return {
      Declare(CODEN_MEMBER(run, directory), Text{},
              "Folder that receives everything the run makes."),
      Declare(CODEN_MEMBER(run, seed), Integer<std::uint64_t>{0, std::uint64_t{1} << 53},
              "Seed of every random choice: the split, the initial weights, random "
              "features."),
      Declare(CODEN_MEMBER(run, threads), Integer<int>{0, 1024},
              "Threads to use; 0 takes all cores. Results do not depend on it."),
      Declare(CODEN_MEMBER(run, memory_limit), ByteSize{},
              "Memory the run may plan for, such as 8GB; 0 takes what the machine has. "
              "Columns that do not fit are embedded in several passes over the log, with "
              "the same result."),
      Declare(CODEN_MEMBER(run, commit_interval), Integer<int>{0, 1000000},
              "Seconds of embedding between two commits, which is what a killed run can "
              "lose; 0 commits as often as writing keeps up."),

      Declare(CODEN_MEMBER(input, edges), Text{},
              "Edge log: Parquet file, directory, glob or URI, in time order."),
      Declare(CODEN_MEMBER(input, features), Text{},
              "Node features: one row per node, a list of floats. Nodes without a row "
              "get zeros."),
      Declare(CODEN_MEMBER(input, labels), Text{},
              "Node labels; with a time column, the label from that time on. Only "
              "`train` needs "
              "them."),
      Declare(CODEN_MEMBER(input, split), Text{},
              "For `train.split_by = file`: node and split (train, validate or test); "
              "labelled nodes that it does not name are left out."),
      Declare(CODEN_MEMBER(input, feature_updates), Text{},
              "Later feature vectors: node, time, features, in time order."),
      Declare(CODEN_MEMBER(input, random_features), Integer<int>{0, 4096},
              "Without a features file: give every node this many Gaussian features, "
              "drawn from "
              "its id and the seed."),
      Declare(
          CODEN_MEMBER(input, from), Text{},
          "Take the log from this time on: a number in the unit of its times or, where "
          "they are timestamps or dates, an ISO date or time such as 2024-01-05. Empty "
          "takes it from the start."),
      Declare(CODEN_MEMBER(input, until), Text{},
              "Take the log up to this time, which is not part of it; as `input.from`. "
              "Row groups outside are not read."),
      Declare(CODEN_MEMBER(input, src), Text{},
              "Column of the edge log: where the edge starts."),
      Declare(CODEN_MEMBER(input, dst), Text{},
              "Column of the edge log: where the edge ends."),
      Declare(
          CODEN_MEMBER(input, time), Text{},
          "Column of the edge log, of timed labels and of feature updates: the time."),
      Declare(CODEN_MEMBER(input, op), Text{},
              "Column of a signed edge log: 1, true or insert; -1, false or delete."),
      Declare(CODEN_MEMBER(input, node), Text{},
              "Column of features and labels: the node."),
      Declare(CODEN_MEMBER(input, feature), Text{},
              "Column of the features: the vector."),
      Declare(CODEN_MEMBER(input, label), Text{}, "Column of the labels: the class."),
      Declare(
          CODEN_MEMBER(input, label_time), Text{},
          "Column of the labels: from when they hold. Empty takes `input.time` where the "
          "labels have it; without a time they hold always."),
      Declare(CODEN_MEMBER(input, late),
              Choice<LatePolicy>{
                  {{"refuse", LatePolicy::kRefuse}, {"drop", LatePolicy::kDrop}}},
              "Rows added to the log of an earlier run, for times that it has already "
              "predicted: refuse the log, or drop and count them."),
      Declare(CODEN_MEMBER(input, batch_rows), Integer<int>{1, 1 << 24},
              "Rows per record batch when reading. Results do not depend on it."),

      Declare(CODEN_MEMBER(graph, events),
              Choice<EventMode>{{{"insert", EventMode::kInsert},
                                 {"toggle", EventMode::kToggle},
                                 {"signed", EventMode::kSigned}}},
              "What a row means: add an edge, flip it, or do what its `op` says."),
      Declare(CODEN_MEMBER(graph, directed), Boolean{},
              "Whether an edge leads one way only."),
      Declare(
          CODEN_MEMBER(graph, self_loops), Boolean{},
          "Keep edges from a node to itself; otherwise they are dropped and counted."),
      Declare(
          CODEN_MEMBER(graph, lenient), Boolean{},
          "Skip and count the deletion of an absent edge instead of rejecting the log."),
      Declare(
          CODEN_MEMBER(graph, window), Integer<EventTime>{0, INT64_MAX},
          "An edge expires this long after its last insertion, in the unit of the log's "
          "times; 0 keeps it for ever."),

      Declare(CODEN_MEMBER(partition, initial), Initial{},
              "The initial graph: a share of the rows, or everything before a time in "
              "the unit "
              "of the log's times."),
      Declare(CODEN_MEMBER(partition, predictions), Integer<int>{0, 1000000},
              "Cut the rest of the log into this many batches of equal size (10 where "
              "neither "
              "this nor `width` nor `times` is set)."),
      Declare(
          CODEN_MEMBER(partition, width), Integer<EventTime>{0, INT64_MAX},
          "Predict at the end of every interval of this length, in the unit of the log's "
          "times."),
      Declare(
          CODEN_MEMBER(partition, times), TimeList{},
          "Predict at these times; rows after the last one are left out and counted."),
      Declare(CODEN_MEMBER(partition, unfinished),
              Choice<UnfinishedInterval>{{{"predict", UnfinishedInterval::kPredict},
                                          {"wait", UnfinishedInterval::kWait}}},
              "A prediction time of `width` or `times` that the log has not passed: "
              "predict with the rows there are, or leave them until more have come."),

      Declare(CODEN_MEMBER(sample, bound),
              Choice<ShiftBound>{{{"relative", ShiftBound::kRelative},
                                  {"paper", ShiftBound::kPaper},
                                  {"strict", ShiftBound::kStrict}}},
              "How the movement of the embeddings is bounded (docs/sampling.md)."),
      Declare(CODEN_MEMBER(sample, lambda), Real{0.0, INFINITY, Real::kOpen},
              "Take a snapshot when the bound passes this; for `relative` and `strict` "
              "it is a "
              "share of all feature mass."),
      Declare(
          CODEN_MEMBER(sample, max_per_interval), Integer<int>{0, 1000000},
          "At most this many snapshots strictly between two prediction times; 0 sets no "
          "limit."),

      Declare(CODEN_MEMBER(embed, alpha), Real{0.001, 1.0, Real::kHalfOpen},
              "Restart probability of personalised PageRank."),
      Declare(CODEN_MEMBER(embed, epsilon), Real{1e-14, 1.0, Real::kClosed},
              "Mean error per node: every column is proven to be within n times this of "
              "the exact value, in the L1 norm."),
      Declare(CODEN_MEMBER(embed, propagation),
              Choice<Propagation>{{{"mass", Propagation::kMass},
                                   {"average", Propagation::kAverage},
                                   {"symmetric", Propagation::kSymmetric}}},
              "How features travel: shared among neighbours (the paper), averaged over "
              "them, or "
              "normalised on both sides (GCN)."),
      Declare(CODEN_MEMBER(embed, columns), Columns{},
              "Embed a slice of the feature columns only, such as 0:32."),
      Declare(CODEN_MEMBER(embed, audit), Integer<int>{0, 1000000000},
              "Check the proven error by another route at every so many snapshots, and "
              "fail if it does not hold; 0 never does."),

      Declare(CODEN_MEMBER(snapshot, layout),
              Choice<SnapshotLayout>{{{"list", SnapshotLayout::kList},
                                      {"fixed", SnapshotLayout::kFixed},
                                      {"columns", SnapshotLayout::kColumns}}},
              "Arrow type of an embedding: list<float>, fixed_size_list<float>, or one "
              "column "
              "per dimension."),
      Declare(CODEN_MEMBER(snapshot, precision),
              Choice<SnapshotPrecision>{{{"float32", SnapshotPrecision::kFloat32},
                                         {"float16", SnapshotPrecision::kFloat16}}},
              "Type of the numbers of an embedding. `float16` takes half the space and "
              "adds its rounding to the error of a snapshot."),
      Declare(CODEN_MEMBER(snapshot, nodes),
              Choice<SnapshotNodes>{
                  {{"all", SnapshotNodes::kAll}, {"labelled", SnapshotNodes::kLabelled}}},
              "Which nodes a snapshot holds."),
      Declare(
          CODEN_MEMBER(snapshot, mode),
          Choice<SnapshotMode>{
              {{"full", SnapshotMode::kFull}, {"delta", SnapshotMode::kDelta}}},
          "Which rows the file of a snapshot holds: all, or those that have moved since "
          "the last full snapshot and those of nodes it does not have (docs/files.md)."),
      Declare(CODEN_MEMBER(snapshot, threshold), Real{0.0, INFINITY, Real::kHalfOpen},
              "For `snapshot.mode = delta`: a row has moved when one of its numbers has "
              "changed by more than this; 0 takes any change."),
      Declare(
          CODEN_MEMBER(snapshot, full_every), Integer<int>{1, 1000000},
          "For `snapshot.mode = delta`: at least every so many snapshots one is full. "
          "So is one of which more than half would be written anyway."),
      Declare(CODEN_MEMBER(snapshot, compression),
              Choice<SnapshotCompression>{{{"zstd", SnapshotCompression::kZstd},
                                           {"snappy", SnapshotCompression::kSnappy},
                                           {"none", SnapshotCompression::kNone}}},
              "Compression of the snapshot files."),

      Declare(CODEN_MEMBER(train, model),
              Choice<ModelKind>{{{"coden", ModelKind::kCoden},
                                 {"coden-s", ModelKind::kCodenS},
                                 {"coden-r", ModelKind::kCodenR},
                                 {"coden-a", ModelKind::kCodenA}}},
              "State-space model over the snapshots, an MLP on the current one, a gated "
              "average, or attention over the snapshots (docs/models.md)."),
      Declare(CODEN_MEMBER(train, gate),
              Choice<GateKind>{
                  {{"channel", GateKind::kChannel}, {"input", GateKind::kInput}}},
              "The gate of coden-r: one number per channel, or linear in the snapshot."),
      Declare(
          CODEN_MEMBER(train, inputs), Inputs{},
          "What a model reads of a node besides label columns: the embedding, its own "
          "feature vector, or both."),
      Declare(
          CODEN_MEMBER(train, averages), RealList{0.0, 1.0},
          "Poles of exponential averages over the snapshots that a model reads beside "
          "the rest, such as 0.5, 0.8, 0.95. Empty has none."),
      Declare(CODEN_MEMBER(train, label_columns), Integer<int>{0, 100},
              "Send the training labels through the graph as more columns, in this many "
              "folds, so that no node sees its own; 0 does not (docs/models.md)."),
      Declare(CODEN_MEMBER(train, label_alphas), RealList{0.001, 1.0},
              "Restart probabilities of the label columns, side by side. Empty takes "
              "`embed.alpha`."),
      Declare(CODEN_MEMBER(train, label_windows), TimeList{},
              "Windows of the label columns, side by side: labels travel along the edges "
              "of the last so many units of time, 0 along all. Empty takes "
              "`graph.window`."),
      Declare(CODEN_MEMBER(train, states), Integer<int>{1, 1024},
              "States per channel (the paper's F'); for coden-a the length of a query."),
      Declare(CODEN_MEMBER(train, hidden), Integer<int>{1, 65536},
              "Width of the hidden layers."),
      Declare(CODEN_MEMBER(train, layers), Integer<int>{1, 16},
              "Linear layers of the classifier; 1 has no hidden layer."),
      Declare(
          CODEN_MEMBER(train, protocol),
          Choice<Protocol>{{{"shared", Protocol::kShared},
                            {"each", Protocol::kEach},
                            {"rolling", Protocol::kRolling}}},
          "One model for all prediction times; one for each, trained at that time; or "
          "one trained on the times so far that predicts the next."),
      Declare(CODEN_MEMBER(train, warm_start), Boolean{},
              "With `each` and `rolling`: begin with the weights of the last prediction "
              "time instead of random ones."),
      Declare(CODEN_MEMBER(train, epochs), Integer<int>{1, 1000000},
              "Passes over the nodes, at most."),
      Declare(CODEN_MEMBER(train, warm_epochs), Integer<int>{0, 1000000},
              "With `warm_start`: passes at every prediction time after the first, at "
              "most; 0 takes `epochs`."),
      Declare(CODEN_MEMBER(train, learning_rate), Real{0.0, 10.0, Real::kOpen},
              "Step size of Adam."),
      Declare(CODEN_MEMBER(train, rate_schedule),
              Choice<RateSchedule>{{{"constant", RateSchedule::kConstant},
                                    {"cosine", RateSchedule::kCosine}}},
              "Keep the step size, or let it fall to zero along half a cosine."),
      Declare(CODEN_MEMBER(train, batch), Integer<int>{1, 1 << 24}, "Nodes per step."),
      Declare(CODEN_MEMBER(train, times_per_step), Integer<int>{0, 1000000},
              "Prediction times per step, drawn anew for each; 0 takes all. Those of one "
              "node are much alike, so a few teach as much in less time."),
      Declare(CODEN_MEMBER(train, dropout), Real{0.0, 1.0, Real::kHalfOpen},
              "Share of hidden units dropped while training."),
      Declare(CODEN_MEMBER(train, weight_decay), Real{0.0, 10.0, Real::kClosed},
              "Decoupled weight decay (AdamW); 0 is Adam."),
      Declare(CODEN_MEMBER(train, label_smoothing), Real{0.0, 1.0, Real::kHalfOpen},
              "Share of a label that is spread over all classes."),
      Declare(CODEN_MEMBER(train, orthogonality), Real{0.0, INFINITY, Real::kHalfOpen},
              "Weight of the soft-orthogonality regulariser (the paper's); 0 is off."),
      Declare(CODEN_MEMBER(train, class_weights),
              Choice<ClassWeights>{
                  {{"none", ClassWeights::kNone}, {"balanced", ClassWeights::kBalanced}}},
              "Weigh every node alike, or every class of the training labels."),
      Declare(
          CODEN_MEMBER(train, patience), Integer<int>{0, 1000000},
          "Stop after this many epochs without a better validation score; 0 never stops "
          "early."),
      Declare(CODEN_MEMBER(train, split), Split{},
              "Shares of the labelled nodes that train, validate and test."),
      Declare(CODEN_MEMBER(train, split_by),
              Choice<SplitKind>{{{"seed", SplitKind::kSeed},
                                 {"time", SplitKind::kTime},
                                 {"file", SplitKind::kFile}}},
              "Which nodes are which: by chance, by their first event (early ones train, "
              "late ones test), or as `input.split` says."),
      Declare(
          CODEN_MEMBER(train, runs), Integer<int>{1, 1000},
          "Train this often, with seeds counting up from `run.seed`, and report mean and "
          "spread."),
      Declare(
          CODEN_MEMBER(train, energy), Boolean{},
          "Measure the Dirichlet energy of what the model knows of the nodes, at every "
          "prediction time; reads the log once more."),

      Declare(CODEN_MEMBER(report, html), Boolean{}, "Write report.html."),
      Declare(CODEN_MEMBER(report, tensorboard), Boolean{},
              "Write the epochs and the metrics as event files for TensorBoard too."),
      Declare(CODEN_MEMBER(report, format),
              Choice<TableFormat>{{{"table", TableFormat::kTable},
                                   {"json", TableFormat::kJson},
                                   {"csv", TableFormat::kCsv}}},
              "Form of the results on standard output; `--format` is short for it."),

      Declare(CODEN_MEMBER(experiment, directory), Text{},
              "Folder of `coden experiment`; empty: `run.directory` with -experiments "
              "after it."),
      Declare(CODEN_MEMBER(experiment, values), Text{},
              "What a suite varies, such as 0.05, 0.1, 0.2; empty takes its own values."),
  };
}

#undef CODEN_MEMBER

}  // namespace

std::span<const Setting> AllSettings() {
  static const std::vector<Setting> settings = DeclareAll();
  return settings;
}

}  // namespace coden
