// The declaration of every setting. To add one: add the member to its options struct and
// one line to the table below. Everything else follows from the table.

#include <vector>

#include "coden/settings/settings.h"

#include "base/declare_option_internal.h"
#include "settings/setting_value_internal.h"

namespace coden {

namespace {

// Every whole number up to here is a number of JSON, too.
constexpr std::uint64_t kLargestSeed = std::uint64_t{1} << 53;

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
              "Directory for all output of the run: a local path or an s3:// URI."),
      Declare(CODEN_MEMBER(run, seed), Integer<std::uint64_t>{0, kLargestSeed},
              "Seed of the training: the split, the initial weights and the order of "
              "the batches."),
      Declare(CODEN_MEMBER(run, threads), Integer<int>{0, 1024},
              "Number of threads; 0 uses all cores. Results do not depend on it."),
      Declare(CODEN_MEMBER(run, memory_limit), ByteSize{},
              "Memory that the run may use, such as 8GB; 0 uses what the machine "
              "has. Feature columns that do not fit are embedded in several passes "
              "over the log, with the same result."),
      Declare(CODEN_MEMBER(run, commit_interval), Integer<int>{0, 1000000},
              "Seconds between two commits of the embedding. A killed run loses at "
              "most the work since its last commit. 0 commits as often as the disk "
              "allows."),

      Declare(CODEN_MEMBER(input, edges), Text{},
              "Edge log, sorted by time: a Parquet file, a directory, a glob or a "
              "URI."),
      Declare(CODEN_MEMBER(input, features), Text{},
              "Node features: one row per node with a list of floats. Nodes without "
              "a row get zeros."),
      Declare(CODEN_MEMBER(input, labels), Text{},
              "Node labels. With a time column, a label holds from that time on. "
              "Required for training only."),
      Declare(CODEN_MEMBER(input, split), Text{},
              "Split file for `train.split_by = file`, with the columns `node` and "
              "`split` (train, validate or test). Labelled nodes that are not in it "
              "are ignored."),
      Declare(CODEN_MEMBER(input, feature_updates), Text{},
              "Feature vectors that replace earlier ones over time: node, time and "
              "features, sorted by time."),
      Declare(CODEN_MEMBER(input, random_features), Integer<int>{0, 4096},
              "Number of Gaussian features to generate per node, when there is no "
              "features file. They depend only on the node id and "
              "`input.random_seed`."),
      Declare(CODEN_MEMBER(input, random_seed), Integer<std::uint64_t>{0, kLargestSeed},
              "Seed of `input.random_features`. Another `run.seed` leaves the features, "
              "and so the embedding, as they are."),
      Declare(CODEN_MEMBER(input, from), Text{},
              "Read rows from this time on (inclusive). Give a number in the unit "
              "of the log's times or, for timestamps and dates, an ISO date or time "
              "such as 2024-01-05. Empty reads from the start."),
      Declare(CODEN_MEMBER(input, until), Text{},
              "Read rows before this time (exclusive), in the same form as "
              "`input.from`. Row groups outside the range are skipped."),
      Declare(CODEN_MEMBER(input, src), Text{}, "Edge log column with the source node."),
      Declare(CODEN_MEMBER(input, dst), Text{},
              "Edge log column with the destination node."),
      Declare(CODEN_MEMBER(input, time), Text{},
              "Time column of the edge log, of timed labels and of feature updates."),
      Declare(CODEN_MEMBER(input, op), Text{},
              "Edge log column with the operation, for `graph.events = signed`: 1, "
              "true or insert adds an edge; -1, false or delete removes it."),
      Declare(CODEN_MEMBER(input, node), Text{},
              "Node column of the features and labels."),
      Declare(CODEN_MEMBER(input, feature), Text{},
              "Column of the features file with the feature vector."),
      Declare(CODEN_MEMBER(input, label), Text{},
              "Column of the labels file with the class."),
      Declare(CODEN_MEMBER(input, label_time), Text{},
              "Column of the labels file with the time from which a label holds. "
              "Empty uses `input.time` if the labels have that column; otherwise "
              "labels hold at all times."),
      Declare(CODEN_MEMBER(input, late),
              Choice<LatePolicy>{
                  {{"refuse", LatePolicy::kRefuse}, {"drop", LatePolicy::kDrop}}},
              "What to do with rows whose time is before that of a row above them, or "
              "has already been predicted by an earlier run: refuse the log, or drop "
              "the rows and count them."),
      Declare(CODEN_MEMBER(input, batch_rows), Integer<int>{1, 1 << 24},
              "Rows per record batch when reading. Results do not depend on it."),

      Declare(CODEN_MEMBER(graph, events),
              Choice<EventMode>{{{"insert", EventMode::kInsert},
                                 {"toggle", EventMode::kToggle},
                                 {"signed", EventMode::kSigned}}},
              "What a row does: insert an edge, toggle it (insert if absent, delete "
              "if present), or follow the `op` column."),
      Declare(CODEN_MEMBER(graph, directed), Boolean{}, "Treat edges as directed."),
      Declare(CODEN_MEMBER(graph, self_loops), Boolean{},
              "Keep edges from a node to itself. Otherwise they are dropped and "
              "counted."),
      Declare(CODEN_MEMBER(graph, lenient), Boolean{},
              "Skip and count deletions of absent edges instead of rejecting the "
              "log."),
      Declare(CODEN_MEMBER(graph, window), Integer<EventTime>{0, INT64_MAX},
              "Delete an edge this long after its last insertion, in the unit of "
              "the log's times; 0 keeps edges forever."),

      Declare(CODEN_MEMBER(partition, initial), Initial{},
              "Rows that form the initial graph: a fraction of all rows, or all "
              "rows before a time in the unit of the log's times."),
      Declare(
          CODEN_MEMBER(partition, predictions), Integer<int>{0, 1000000},
          "Split the rows after the initial graph into this many batches of equal size "
          "and predict at the end of each. If neither this nor `width` nor `times` is "
          "set, 10 batches are used."),
      Declare(CODEN_MEMBER(partition, width), Integer<EventTime>{0, INT64_MAX},
              "Predict at the end of every interval of this length, in the unit of "
              "the log's times."),
      Declare(CODEN_MEMBER(partition, times), TimeList{},
              "Predict at these times. Rows after the last one are ignored and "
              "counted."),
      Declare(CODEN_MEMBER(partition, unfinished),
              Choice<UnfinishedInterval>{{{"predict", UnfinishedInterval::kPredict},
                                          {"wait", UnfinishedInterval::kWait}}},
              "What to do at a prediction time of `width` or `times` that lies "
              "after the last row of the log: predict with the rows available, or "
              "wait for more rows."),

      Declare(CODEN_MEMBER(sample, bound),
              Choice<ShiftBound>{{{"relative", ShiftBound::kRelative},
                                  {"paper", ShiftBound::kPaper},
                                  {"strict", ShiftBound::kStrict}}},
              "How to bound the change of the embeddings since the last snapshot "
              "(docs/sampling.md)."),
      Declare(CODEN_MEMBER(sample, lambda), Real{0.0, INFINITY, Real::kOpen},
              "Take a snapshot when the bound exceeds this value. For `relative` "
              "and `strict` it is a fraction of the total feature mass."),
      Declare(CODEN_MEMBER(sample, max_per_interval), Integer<int>{0, 1000000},
              "Maximum number of snapshots between two prediction times, not "
              "counting those at the prediction times; 0 means no limit."),

      Declare(CODEN_MEMBER(embed, alpha), Real{0.001, 1.0, Real::kHalfOpen},
              "Restart probability of personalised PageRank."),
      Declare(CODEN_MEMBER(embed, epsilon), Real{1e-14, 1.0, Real::kClosed},
              "Error tolerance: every column is proven to be within n times this "
              "value of the exact result in the L1 norm, for n nodes."),
      Declare(CODEN_MEMBER(embed, propagation),
              Choice<Propagation>{{{"mass", Propagation::kMass},
                                   {"average", Propagation::kAverage},
                                   {"symmetric", Propagation::kSymmetric}}},
              "How features propagate: divided among the neighbours (`mass`, as in "
              "the paper), averaged over the neighbours (`average`), or normalised "
              "symmetrically as in GCN (`symmetric`)."),
      Declare(CODEN_MEMBER(embed, columns), Columns{},
              "Embed only this range of feature columns, such as 0:32 (end "
              "exclusive)."),
      Declare(CODEN_MEMBER(embed, audit), Integer<int>{0, 1000000000},
              "Recompute the proven error independently at every N-th snapshot, and "
              "fail if it does not hold; 0 turns this off."),

      Declare(CODEN_MEMBER(snapshot, layout),
              Choice<SnapshotLayout>{{{"list", SnapshotLayout::kList},
                                      {"fixed", SnapshotLayout::kFixed},
                                      {"columns", SnapshotLayout::kColumns}}},
              "Arrow type of an embedding: list<float>, fixed_size_list<float>, or "
              "one column per dimension."),
      Declare(CODEN_MEMBER(snapshot, precision),
              Choice<SnapshotPrecision>{{{"float32", SnapshotPrecision::kFloat32},
                                         {"float16", SnapshotPrecision::kFloat16}}},
              "Floating-point type of the embeddings. `float16` halves the size and "
              "adds its rounding error to the error bound of a snapshot."),
      Declare(CODEN_MEMBER(snapshot, nodes),
              Choice<SnapshotNodes>{
                  {{"all", SnapshotNodes::kAll}, {"labelled", SnapshotNodes::kLabelled}}},
              "Nodes to write to a snapshot: all, or only those with a label."),
      Declare(CODEN_MEMBER(snapshot, mode),
              Choice<SnapshotMode>{
                  {{"full", SnapshotMode::kFull}, {"delta", SnapshotMode::kDelta}}},
              "Rows to write to a snapshot: all rows, or only rows that are new or "
              "have changed since the last full snapshot (docs/files.md)."),
      Declare(CODEN_MEMBER(snapshot, threshold), Real{0.0, INFINITY, Real::kHalfOpen},
              "For `snapshot.mode = delta`: a row has changed when one of its "
              "values differs by more than this; 0 counts any change."),
      Declare(CODEN_MEMBER(snapshot, full_every), Integer<int>{1, 1000000},
              "For `snapshot.mode = delta`: write a full snapshot at least every N "
              "snapshots. A snapshot in which more than half of the rows have "
              "changed is also written in full."),
      Declare(CODEN_MEMBER(snapshot, compression),
              Choice<SnapshotCompression>{{{"zstd", SnapshotCompression::kZstd},
                                           {"snappy", SnapshotCompression::kSnappy},
                                           {"none", SnapshotCompression::kNone}}},
              "Compression codec of the snapshot files."),

      Declare(CODEN_MEMBER(train, model),
              Choice<ModelKind>{{{"coden", ModelKind::kCoden},
                                 {"coden-s", ModelKind::kCodenS},
                                 {"coden-r", ModelKind::kCodenR},
                                 {"coden-a", ModelKind::kCodenA}}},
              "Model: a state-space model over the snapshots (`coden`), an MLP on "
              "the current snapshot (`coden-s`), a gated average of the snapshots "
              "(`coden-r`), or attention over the snapshots (`coden-a`). See "
              "docs/models.md."),
      Declare(CODEN_MEMBER(train, gate),
              Choice<GateKind>{
                  {{"channel", GateKind::kChannel}, {"input", GateKind::kInput}}},
              "Gate of coden-r: one learned value per channel, or a linear function "
              "of the snapshot."),
      Declare(CODEN_MEMBER(train, inputs), Inputs{},
              "Model inputs for each node, in addition to label columns: its "
              "embedding, its own features, or both."),
      Declare(CODEN_MEMBER(train, averages), RealList{0.0, 1.0},
              "Decay rates of exponential moving averages over the snapshots, used "
              "as additional inputs, such as 0.5, 0.8, 0.95. Empty uses none."),
      Declare(CODEN_MEMBER(train, label_columns), Integer<int>{0, 100},
              "Number of folds for label columns, which propagate the training "
              "labels through the graph as additional inputs. A node never receives "
              "its own label, and the model starts as label propagation. 0 turns label "
              "columns off (docs/models.md)."),
      Declare(CODEN_MEMBER(train, label_alphas), RealList{0.001, 1.0},
              "Restart probabilities of the label columns; each adds its own "
              "columns. Empty uses `embed.alpha`."),
      Declare(CODEN_MEMBER(train, label_windows), TimeList{},
              "Time windows of the label columns; each adds its own columns. Labels "
              "propagate along edges of the last N units of time, or along all "
              "edges for 0. Empty uses `graph.window`."),
      Declare(CODEN_MEMBER(train, states), Integer<int>{1, 1024},
              "States per channel (F' in the paper); for coden-a, the length of a "
              "query."),
      Declare(CODEN_MEMBER(train, hidden), Integer<int>{1, 65536},
              "Width of the hidden layers."),
      Declare(CODEN_MEMBER(train, layers), Integer<int>{1, 16},
              "Number of linear layers in the classifier; 1 has no hidden layer."),
      Declare(CODEN_MEMBER(train, protocol),
              Choice<Protocol>{{{"shared", Protocol::kShared},
                                {"each", Protocol::kEach},
                                {"rolling", Protocol::kRolling}}},
              "Which model predicts when. `each`: a model per prediction time, "
              "trained on what is known by then and warm-started from the previous "
              "one. `rolling`: a model trained on the times so far predicts the "
              "next one. `shared`: one model for all times: a quick look, it learns "
              "from later times."),
      Declare(CODEN_MEMBER(train, warm_start), Boolean{},
              "For `each` and `rolling`: start from the weights of the previous "
              "prediction time instead of random weights, unless a new class has "
              "appeared since."),
      Declare(CODEN_MEMBER(train, epochs), Integer<int>{1, 1000000},
              "Maximum number of epochs."),
      Declare(CODEN_MEMBER(train, warm_epochs), Integer<int>{0, 1000000},
              "With `warm_start`: maximum number of epochs of a model that starts from "
              "the weights of the previous prediction time, if that is less than "
              "`epochs`; 0 uses `epochs`."),
      Declare(CODEN_MEMBER(train, learning_rate), Real{0.0, 10.0, Real::kOpen},
              "Learning rate of Adam."),
      Declare(CODEN_MEMBER(train, rate_schedule),
              Choice<RateSchedule>{{{"constant", RateSchedule::kConstant},
                                    {"cosine", RateSchedule::kCosine}}},
              "Learning-rate schedule: constant, or cosine decay to zero."),
      Declare(CODEN_MEMBER(train, batch), Integer<int>{1, 1 << 24},
              "Batch size, in nodes."),
      Declare(CODEN_MEMBER(train, times_per_step), Integer<int>{0, 1000000},
              "Prediction times per optimiser step, sampled anew for each step; 0 "
              "uses all. The prediction times of a node are similar, so a few give "
              "nearly the same result in less time."),
      Declare(CODEN_MEMBER(train, dropout), Real{0.0, 1.0, Real::kHalfOpen},
              "Dropout probability of hidden units."),
      Declare(CODEN_MEMBER(train, weight_decay), Real{0.0, 10.0, Real::kClosed},
              "Decoupled weight decay (AdamW); 0 is plain Adam."),
      Declare(CODEN_MEMBER(train, label_smoothing), Real{0.0, 1.0, Real::kHalfOpen},
              "Label smoothing: fraction of the target that is spread evenly over "
              "all classes."),
      Declare(CODEN_MEMBER(train, orthogonality), Real{0.0, INFINITY, Real::kHalfOpen},
              "Weight of the paper's soft-orthogonality regulariser; 0 turns it "
              "off."),
      Declare(CODEN_MEMBER(train, class_weights),
              Choice<ClassWeights>{
                  {{"none", ClassWeights::kNone}, {"balanced", ClassWeights::kBalanced}}},
              "Class weights in the loss: none, or inversely proportional to the "
              "class frequencies of the training labels."),
      Declare(CODEN_MEMBER(train, patience), Integer<int>{0, 1000000},
              "Stop early after this many epochs without a better validation score; "
              "0 never stops early."),
      Declare(CODEN_MEMBER(train, split), Split{},
              "Fractions of the labelled nodes used for training, validation and "
              "testing. At random, a node's part depends on its id and the seed alone, "
              "so the fractions are approximate."),
      Declare(CODEN_MEMBER(train, split_by),
              Choice<SplitKind>{{{"seed", SplitKind::kSeed},
                                 {"time", SplitKind::kTime},
                                 {"file", SplitKind::kFile}}},
              "How to split the labelled nodes: at random by seed, by the time of "
              "their first event (early nodes train, late nodes test), or as given "
              "in `input.split`."),
      Declare(CODEN_MEMBER(train, runs), Integer<int>{1, 1000},
              "Number of training runs, with seeds counting up from `run.seed`. "
              "Results are reported as mean and standard deviation."),
      Declare(CODEN_MEMBER(train, energy), Boolean{},
              "Measure the Dirichlet energy of the model's node representations at "
              "every prediction time. Reads the log once more."),

      Declare(CODEN_MEMBER(report, html), Boolean{}, "Write report.html."),
      Declare(CODEN_MEMBER(report, tensorboard), Boolean{},
              "Also write epochs and metrics as TensorBoard event files."),
      Declare(CODEN_MEMBER(report, format),
              Choice<TableFormat>{{{"table", TableFormat::kTable},
                                   {"json", TableFormat::kJson},
                                   {"csv", TableFormat::kCsv}}},
              "Format of the results on standard output. `--format` is a shorthand "
              "for this setting."),

      Declare(CODEN_MEMBER(experiment, directory), Text{},
              "Output directory of `coden experiment`. Empty uses `run.directory` "
              "with the suffix -experiments."),
      Declare(CODEN_MEMBER(experiment, values), Text{},
              "Values for the suite to try, such as 0.05, 0.1, 0.2. Empty uses the "
              "defaults of the suite."),
  };
}

#undef CODEN_MEMBER

}  // namespace

std::span<const Setting> AllSettings() {
  static const std::vector<Setting> settings = DeclareAll();
  return settings;
}

}  // namespace coden
