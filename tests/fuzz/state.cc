// What a run leaves for the next one, below state/: progress.json, graph, window, nodes,
// columns, labels, work and schedule. Any bytes in the place of a file, and files of the
// right schema, or nearly, with any values. What is refused is corruption; what is taken
// is a state that an engine works on, and that reads back the same when it is written
// again.

#include <cmath>
#include <memory>

#include <arrow/api.h>
#include <tbb/task_arena.h>

#include "array_maker.h"
#include "bytes.h"
#include "check.h"
#include "coden/embed/embedding_engine.h"
#include "coden/sample/schedule.h"
#include "coden/state/run_progress.h"
#include "coden/state/saved_columns.h"
#include "coden/state/saved_graph.h"
#include "coden/state/saved_labels.h"
#include "coden/state/saved_nodes.h"
#include "coden/state/saved_work.h"
#include "coden/store/hasher.h"
#include "coden/store/parquet_file.h"
#include "state_files.h"
#include "support/dense_ppr.h"

namespace coden::fuzz {

namespace {

void CheckRefusal(const arrow::Status& status) {
  FUZZ_CHECK(IsPlain(status, Fault::kCorruption), status.ToString());
}

class Target {
 public:
  void Run(Bytes& bytes) {
    files_.Clear();
    switch (bytes.Below(8)) {
      case 0:
        return CheckProgress(bytes.Rest());
      case 1:
        return CheckGraph(bytes);
      case 2:
        return CheckNodes(bytes);
      case 3:
        return CheckColumns(bytes);
      case 4:
        return CheckWork(bytes);
      case 5:
        return CheckLabels(bytes);
      case 6:
        return CheckSchedule(bytes);
      default:
        return CheckRaw(bytes);
    }
  }

 private:
  static void CheckProgress(const std::string& text) {
    const auto progress = ProgressFromJson(text, "progress");
    if (!progress.ok()) return CheckRefusal(progress.status());
    const std::string written = ToJson(*progress);
    const auto again = ProgressFromJson(written, "progress");
    FUZZ_CHECK(again.ok(), again.status().ToString());
    FUZZ_CHECK(ToJson(*again) == written, "progress reads back as another");
    NumEvents(progress->log);
  }

  static GraphOptions MakeGraphOptions(Bytes& bytes) {
    GraphOptions options;
    options.directed = bytes.Flag();
    options.self_loops = true;
    options.window = bytes.Flag() ? 5 : 0;
    return options;
  }

  /// A graph that was taken has the arcs of its file, and goes on.
  void CheckGraph(Bytes& bytes) {
    const GraphOptions options = MakeGraphOptions(bytes);
    files_.WriteGraph(bytes, {}, options.directed);
    EventGraph graph(options);
    graph.Grow(kNodes);
    const arrow::Status status = LoadGraph(files_.store(), {}, kNodes, graph);
    if (!status.ok()) return CheckRefusal(status);
    const auto staged = StageGraph(files_.store(), {}, graph, {});
    FUZZ_OK(staged.status());
    files_.Place(*staged);
    EventGraph again(options);
    again.Grow(kNodes);
    FUZZ_OK(LoadGraph(files_.store(), {}, kNodes, again));
    FUZZ_CHECK(test::ArcsOf(again.graph()) == test::ArcsOf(graph.graph()),
               "the graph reads back as another");
    NeighbourhoodChanges changes;
    for (int step = 0; step < 16; ++step) {
      const EdgeEvent event{bytes.Below(kNodes), bytes.Below(kNodes), 100 + step,
                            EventKind::kToggle};
      FUZZ_OK(graph.Apply(event, changes));
    }
    // All that was there has expired by now, but not twice.
    if (options.window > 0) {
      graph.ExpireUntil(std::numeric_limits<EventTime>::max(), changes);
      FUZZ_CHECK(graph.pending_expiries().empty(), "an insertion has not expired");
    }
    FUZZ_CHECK(graph.num_edges() >= 0, "fewer than no edges");
  }

  void CheckNodes(Bytes& bytes) {
    const int rows = bytes.Below(8);
    const bool texts = bytes.Flag();
    Columns columns;
    const auto integer = [&] { return bytes.Integer(); };
    if (texts) {
      arrow::StringBuilder ids;
      for (int row = 0; row < rows; ++row) FUZZ_OK(ids.Append(bytes.Text(3)));
      columns.Add("node", ids.Finish().ValueOrDie());
    } else {
      columns.Add("node", Numbers<arrow::Int64Builder>(rows, integer));
    }
    columns.Add("first_event", Numbers<arrow::Int64Builder>(rows, integer), true);
    columns.Add("seen",
                Numbers<arrow::BooleanBuilder>(rows, [&] { return bytes.Flag(); }));
    columns.Add("largest",
                Numbers<arrow::FloatBuilder>(rows, [&] { return bytes.Bits<float>(); }));
    columns.Add("features_since",
                Numbers<arrow::Int32Builder>(
                    rows, [&] { return static_cast<std::int32_t>(bytes.Integer()); }),
                true);
    files_.Write(RunLayout::kNodes, columns, rows);
    const auto type = texts ? arrow::utf8() : arrow::int64();
    auto nodes = NodeIdMap::Make(type).ValueOrDie();
    const auto saved = LoadNodes(files_.store(), *nodes);
    if (!saved.ok()) return CheckRefusal(saved.status());
    const std::string before = files_.Contents(RunLayout::kNodes);
    files_.Place({StageNodes(files_.store(), *nodes, *saved).ValueOrDie()});
    auto again = NodeIdMap::Make(type).ValueOrDie();
    const auto reread = LoadNodes(files_.store(), *again);
    FUZZ_OK(reread.status());
    FUZZ_CHECK(reread->size() == saved->size() && again->size() == nodes->size(),
               "the nodes read back as others");
  }

  /// Numbers that were taken bring an engine to an end, whatever they are.
  void CheckColumns(Bytes& bytes) {
    const GraphOptions options = MakeGraphOptions(bytes);
    files_.WriteGraph(bytes, {}, options.directed);
    EventGraph graph(options);
    graph.Grow(kNodes);
    if (!LoadGraph(files_.store(), {}, kNodes, graph).ok()) return;
    EngineMemory memory;
    memory.pushed = bytes.Below(4) / 4.0;
    for (int column = 0; column < kColumns; ++column) {
      memory.bounds.push_back(bytes.Below(4) * 1e-7);
      memory.in_double.push_back(bytes.Flag());
    }
    // Mostly the connected nodes, as they must be there.
    std::vector<std::int32_t> nodes;
    for (NodeId node = 0; node < kNodes; ++node) {
      if (bytes.Below(16) != 0) nodes.push_back(node);
    }
    if (bytes.Below(8) == 0) nodes.push_back(NodeNumber(bytes));
    const int rows = static_cast<int>(nodes.size());
    int next = 0;
    Columns columns;
    columns.Add("node",
                Numbers<arrow::Int32Builder>(rows, [&] { return nodes[next++]; }));
    for (int column = 0; column < kColumns; ++column) {
      const bool wrong = bytes.Below(32) == 0;
      const auto number = [&] {
        return bytes.Below(16) == 0 ? bytes.Bits<double>() : bytes.Below(64) / 32.0 - 1.0;
      };
      columns.Add("c" + std::to_string(column),
                  memory.in_double[column] != wrong
                      ? Numbers<arrow::DoubleBuilder>(rows, number)
                      : Numbers<arrow::FloatBuilder>(rows, number));
    }
    files_.Write(RunLayout::Columns(0), columns, rows);
    EmbedOptions embed;
    embed.epsilon = bytes.Flag() ? 1e-4 : 1e-7;
    EmbeddingEngine engine(embed, kColumns);
    engine.Grow(kNodes);
    for (NodeId node = 0; node < kNodes; ++node) {
      engine.SetFeatures(node, std::vector<float>(kColumns, static_cast<float>(node)));
    }
    const ColumnRange range{0, kColumns};
    const ColumnFile file{RunLayout::Columns(0), range};
    const arrow::Status status =
        LoadColumns(files_.store(), {&file, 1}, memory, range, graph.graph(), engine);
    if (!status.ok()) return CheckRefusal(status);
    NeighbourhoodChanges changes;
    for (int step = 0; step < 4; ++step) {
      const EdgeEvent event{bytes.Below(kNodes), bytes.Below(kNodes), 100 + step,
                            EventKind::kToggle};
      FUZZ_OK(graph.Apply(event, changes));
    }
    engine.Update(graph.graph(), changes);
  }

  void CheckWork(Bytes& bytes) {
    const int rows = bytes.Below(6);
    Columns columns;
    const auto integer = [&] { return bytes.Integer(); };
    for (const char* const name :
         {"seconds", "sweeps", "proving_sweeps", "swept_arcs", "pushes", "pushed_arcs"}) {
      const int odd = bytes.Below(32);
      if (odd == 0) continue;
      if (odd == 1 || std::string_view(name) == "seconds") {
        columns.Add(name, Numbers<arrow::DoubleBuilder>(
                              rows, [&] { return bytes.Bits<double>(); }));
      } else {
        columns.Add(name, Numbers<arrow::Int64Builder>(rows, integer));
      }
    }
    if (columns.fields.empty()) return;
    files_.Write(RunLayout::kWork, columns, rows);
    FileRecord record;
    record.path = RunLayout::kWork;
    const std::string contents = files_.Contents(RunLayout::kWork);
    record.size = static_cast<std::int64_t>(contents.size());
    record.xxh3 = HashOf(contents.data(), contents.size());
    const auto work = LoadWork(files_.store(), &record, bytes.Below(8));
    if (!work.ok()) CheckRefusal(work.status());
  }

  void CheckSchedule(Bytes& bytes) {
    const int rows = bytes.Below(6);
    const auto schema = ScheduleSchema();
    arrow::ArrayVector arrays;
    for (const auto& field : schema->fields()) {
      const bool counts = bytes.Below(4) != 0;
      int row = 0;
      std::vector<std::optional<std::int64_t>> numbers;
      for (; row < rows; ++row) numbers.emplace_back(counts ? row : bytes.Integer());
      if (field->nullable() && bytes.Flag()) {
        for (auto& number : numbers) number.reset();
      }
      arrays.push_back(MakeArray(field->type(), numbers));
    }
    const auto table = arrow::Table::Make(schema, arrays, rows);
    const auto schedule = ScheduleFromTable(*table, bytes.Below(2));
    if (!schedule.ok()) return;
    const auto batch = ScheduleToBatch(*schedule).ValueOrDie();
    const auto written = arrow::Table::FromRecordBatches({batch}).ValueOrDie();
    const int first = schedule->empty() ? 0 : schedule->front().snapshot;
    const auto again = ScheduleFromTable(*written, first);
    FUZZ_CHECK(again.ok() && *again == *schedule, "the schedule reads back as another");
  }

  /// The state of label columns, one of whose files is another.
  void CheckLabels(Bytes& bytes) {
    LabelEmbedderOptions options;
    options.alphas = {0.2};
    options.num_folds = 2;
    options.num_classes = 2;
    options.graph.directed = false;
    options.graph.self_loops = true;
    Schedule schedule(2);
    schedule[1].snapshot = 1;
    schedule[0].events = schedule[1].events = 0;
    const std::vector<LabelSeed> seeds = {{0, 0, 0}, {1, 1, 1}};
    auto labels = LabelEmbedder::Make(options, schedule, seeds, kNodes).ValueOrDie();
    files_.Place(StageLabelState(files_.store(), *labels).ValueOrDie());
    auto next = LabelEmbedder::Make(options, schedule, seeds, kNodes).ValueOrDie();
    switch (bytes.Below(3)) {
      case 0: {
        Columns columns;
        const int rows = bytes.Below(6);
        columns.Add("node", Numbers<arrow::Int32Builder>(
                                rows, [&] { return NodeNumber(bytes); }));
        columns.Add("column", Numbers<arrow::Int32Builder>(
                                  rows, [&] { return NodeNumber(bytes); }));
        files_.Write(RunLayout::kLabels, columns, rows);
        break;
      }
      case 1:
        files_.WriteGraph(bytes, {RunLayout::LabelGraph(0), RunLayout::LabelWindow(0)},
                          /*directed=*/false);
        break;
      default: {
        std::string text = files_.Contents(RunLayout::kLabelProgress);
        const std::size_t place = bytes.Bits<std::uint16_t>() % text.size();
        text.replace(place, bytes.Below(8), bytes.Text(40));
        files_.WriteBytes(RunLayout::kLabelProgress, text);
      }
    }
    const arrow::Status status = LoadLabelState(files_.store(), *next);
    // A node that has changed its fold is told as such.
    if (!status.ok() && FaultOf(status)) return CheckRefusal(status);
    FUZZ_CHECK(status.ok() || status.message().find("fold") != std::string::npos,
               status.ToString());
    if (!status.ok()) return;
    FUZZ_OK(next->Finish([](const BatchPtr&) { return arrow::Status::OK(); }));
  }

  /// Any bytes as each of the Parquet files.
  void CheckRaw(Bytes& bytes) {
    const std::string file = bytes.Rest();
    for (const std::string_view name :
         {RunLayout::kGraph, RunLayout::kNodes, RunLayout::kLabels, RunLayout::kWork}) {
      files_.WriteBytes(name, file);
    }
    EventGraph graph({.directed = true});
    graph.Grow(kNodes);
    const arrow::Status status = LoadGraph(files_.store(), {}, kNodes, graph);
    if (!status.ok()) CheckRefusal(status);
    const auto nodes = NodeIdMap::Make(arrow::int64()).ValueOrDie();
    const auto saved = LoadNodes(files_.store(), *nodes);
    if (!saved.ok() && FaultOf(saved.status()) != Fault::kHistory) {
      CheckRefusal(saved.status());
    }
  }

  StateFiles files_;
};

}  // namespace

}  // namespace coden::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static coden::fuzz::Target target;
  static tbb::task_arena arena(/*max_concurrency=*/1);
  arena.execute([&] {
    coden::fuzz::Bytes bytes(data, size);
    target.Run(bytes);
  });
  return 0;
}
