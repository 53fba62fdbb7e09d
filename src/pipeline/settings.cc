// The declaration of every setting. To add one: add the member to its options struct and
// one line to the table below. Everything else follows from the table.

#include "coden/pipeline/settings.h"

#include <algorithm>
#include <vector>

#include "coden/pipeline/error.h"
#include "pipeline/declare_option_internal.h"
#include "pipeline/nearest_internal.h"
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
              Choice<ModelKind>{
                  {{"coden", ModelKind::kCoden}, {"coden-s", ModelKind::kCodenS}}},
              "State-space model over the snapshots, or an MLP on the current one."),
      Declare(CODEN_MEMBER(train, states), Integer<int>{1, 1024},
              "States per feature channel (the paper's F')."),
      Declare(CODEN_MEMBER(train, hidden), Integer<int>{1, 65536},
              "Width of the hidden layers."),
      Declare(CODEN_MEMBER(train, layers), Integer<int>{1, 16},
              "Linear layers of the classifier; 1 has no hidden layer."),
      Declare(CODEN_MEMBER(train, epochs), Integer<int>{1, 1000000},
              "Passes over the nodes."),
      Declare(CODEN_MEMBER(train, learning_rate), Real{0.0, 10.0, Real::kOpen},
              "Step size of Adam."),
      Declare(CODEN_MEMBER(train, batch), Integer<int>{1, 1 << 24}, "Nodes per step."),
      Declare(CODEN_MEMBER(train, dropout), Real{0.0, 1.0, Real::kHalfOpen},
              "Share of hidden units dropped while training."),
      Declare(CODEN_MEMBER(train, weight_decay), Real{0.0, 10.0, Real::kClosed},
              "Decoupled weight decay."),
      Declare(
          CODEN_MEMBER(train, patience), Integer<int>{0, 1000000},
          "Stop after this many epochs without a better validation score; 0 never stops "
          "early."),
      Declare(CODEN_MEMBER(train, split), Split{},
              "Shares of the labelled nodes that train, validate and test."),
      Declare(
          CODEN_MEMBER(train, runs), Integer<int>{1, 1000},
          "Train this often, with seeds counting up from `run.seed`, and report mean and "
          "spread."),

      Declare(CODEN_MEMBER(report, html), Boolean{}, "Write report.html."),
      Declare(CODEN_MEMBER(report, format),
              Choice<TableFormat>{{{"table", TableFormat::kTable},
                                   {"json", TableFormat::kJson},
                                   {"csv", TableFormat::kCsv}}},
              "Form of the results on standard output; `--format` is short for it."),
  };
}

#undef CODEN_MEMBER

}  // namespace

std::span<const Setting> AllSettings() {
  static const std::vector<Setting> settings = DeclareAll();
  return settings;
}

arrow::Result<const Setting*> FindSetting(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const Setting& setting : AllSettings()) {
    if (setting.key == key) return &setting;
    keys.push_back(setting.key);
  }
  return UsageError("unknown setting `", key, "`; the nearest is `", Nearest(key, keys),
                    "` (`coden settings` lists all)");
}

arrow::Status Set(Settings& settings, std::string_view key, std::string_view value) {
  ARROW_ASSIGN_OR_RAISE(const Setting* setting, FindSetting(key));
  return setting->set(settings, value);
}

arrow::Status Validate(const Settings& settings) {
  const PartitionOptions& partition = settings.partition;
  const int ways =
      (partition.predictions > 0) + (partition.width > 0) + !partition.times.empty();
  if (ways > 1) {
    return UsageError(
        "set only one of `partition.predictions`, `partition.width` and "
        "`partition.times`");
  }
  if (settings.graph.directed && settings.embed.propagation != Propagation::kMass) {
    return UsageError(
        "`embed.propagation = average` and `symmetric` need an undirected graph: set "
        "`graph.directed = false` or `embed.propagation = mass`");
  }
  if (settings.sample.bound == ShiftBound::kStrict &&
      settings.embed.propagation != Propagation::kMass) {
    return UsageError(
        "`sample.bound = strict` is proven for `embed.propagation = mass` only; set "
        "that, or "
        "`sample.bound = relative`");
  }
  if (settings.graph.window > 0 && settings.graph.events != EventMode::kInsert) {
    return UsageError(
        "`graph.window` needs `graph.events = insert`: only inserted edges expire");
  }
  if (!settings.input.features.empty() && settings.input.random_features > 0) {
    return UsageError(
        "set only one of `input.features` and `input.random_features`: features come "
        "from a "
        "file or from the seed");
  }
  if (settings.snapshot.nodes == SnapshotNodes::kLabelled &&
      settings.input.labels.empty()) {
    return UsageError("`snapshot.nodes = labelled` needs `input.labels`");
  }
  return arrow::Status::OK();
}

std::string ToIni(const Settings& settings, std::span<const std::string_view> sections) {
  std::string text;
  std::string_view section;
  for (const Setting& setting : AllSettings()) {
    const bool wanted =
        sections.empty() ||
        std::find(sections.begin(), sections.end(), setting.section()) != sections.end();
    if (!wanted) continue;
    if (setting.section() != section) {
      section = setting.section();
      text += (text.empty() ? "[" : "\n[") + std::string(section) + "]\n";
    }
    text += std::string(setting.name()) + " = " + setting.get(settings) + "\n";
  }
  return text;
}

std::string SettingsReference() {
  std::string text =
      "# Settings\n\n"
      "Every setting is a key of the pipeline file (`[section]`, then `name = value`) "
      "and a flag\n"
      "(`--section.name value`); a flag wins over the file. `${NAME}` in a pipeline file "
      "stands\n"
      "for an environment variable. This page is written by `coden settings --format "
      "markdown`.\n";
  std::string_view section;
  for (const Setting& setting : AllSettings()) {
    if (setting.section() != section) {
      section = setting.section();
      text += "\n## " + std::string(section) +
              "\n\n| name | value | default | meaning |\n|---|---|---|---|\n";
    }
    const std::string shown =
        setting.default_text.empty() ? std::string() : "`" + setting.default_text + "`";
    text += "| `" + std::string(setting.name()) + "` | " + setting.rule + " | " + shown +
            " | " + setting.help + " |\n";
  }
  return text;
}

}  // namespace coden
