// What a run leaves for the next one, below state/: progress.json, history, window,
// nodes, columns, labels, work and schedule. Any bytes in the place of a file, and files
// of the right schema, or nearly, with any values. What is refused is corruption; what is
// taken is a state that an engine works on, and that reads back the same when it is
// written again.

#include <algorithm>
#include <limits>
#include <memory>

#include <arrow/api.h>
#include <tbb/task_arena.h>

#include "array_maker.h"
#include "bytes.h"
#include "check.h"
#include "coden/embed/embedding_engine.h"
#include "coden/graph/unobserved.h"
#include "coden/sample/lazy_sampler.h"
#include "coden/sample/schedule.h"
#include "coden/state/history.h"
#include "coden/state/run_progress.h"
#include "coden/state/saved_columns.h"
#include "coden/state/saved_labels.h"
#include "coden/state/saved_nodes.h"
#include "coden/state/saved_window.h"
#include "coden/state/saved_work.h"
#include "coden/store/hasher.h"
#include "coden/store/parquet_file.h"
#include "graph_checks.h"
#include "state_files.h"

namespace coden::fuzz {

namespace {

class Target {
 public:
  void Run(Bytes& bytes) {
    files_.Clear();
    switch (bytes.Below(9)) {
      case 0:
        return CheckProgress(bytes.Rest());
      case 1:
        return CheckHistory(bytes);
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
      case 7:
        return CheckRaw(bytes);
      default:
        return CheckWindow(bytes);
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

  History Open(const std::vector<FileRecord>& files) const {
    return History::Open(files_.store(), std::string(RunLayout::kHistory), files, kNodes)
        .ValueOrDie();
  }

  /// A history that was followed to its end opens anywhere in the middle, and reads back
  /// the same when it is written again.
  void CheckHistory(Bytes& bytes) {
    const bool directed = bytes.Flag();
    auto files = files_.WriteHistory(bytes, directed);
    for (int done = 0; done <= kSnapshots; ++done) {
      SnapshotGraph graph(directed);
      const arrow::Status status = Open(files).Load(done, graph);
      status.ok() ? CheckLists(graph) : CheckRefusal(status);
    }
    SnapshotGraph graph(directed);
    History history = Open(files);
    for (int snapshot = 0; snapshot < kSnapshots; ++snapshot) {
      const arrow::Status status = history.AdvanceTo(snapshot, graph);
      if (!status.ok()) return CheckRefusal(status);
      CheckLists(graph);
      graph.Settle();
    }
    // A whole graph may be another one; the changes alone are sound by now.
    std::erase_if(files, [](const FileRecord& file) {
      return file.path.find("/graph-") != std::string::npos;
    });
    for (int done = 0; done <= kSnapshots; ++done) {
      SnapshotGraph rest(directed);
      History again = Open(files);
      FUZZ_OK(again.Load(done, rest));
      FUZZ_OK(again.AdvanceTo(kSnapshots - 1, rest));
      CheckEqual(rest, graph);
    }
    const auto edges = Open(files).Edges(kSnapshots, directed).ValueOrDie();
    const auto writer = HistoryWriter::Make(files_.store(), "state/again").ValueOrDie();
    FUZZ_OK(writer->Write(0, edges));
    FUZZ_OK(writer->WriteGraph(edges));
    const auto written = files_.Place(writer->Close().ValueOrDie());
    SnapshotGraph back(directed);
    FUZZ_OK(History::Open(files_.store(), "state/again", written, kNodes)
                .ValueOrDie()
                .Load(1, back));
    CheckEqual(back, graph);
  }

  /// Insertions that were taken expire, but not twice.
  void CheckWindow(Bytes& bytes) {
    GraphOptions options;
    options.directed = bytes.Flag();
    options.self_loops = true;
    options.window = 5;
    files_.WriteWindow(bytes, RunLayout::kWindow, options.directed);
    EventGraph graph(options);
    graph.Grow(kNodes);
    for (NodeId node = 0; node < kNodes; ++node)
      if (bytes.Flag()) graph.RestoreEdge(node, std::min(node + 1, kNodes - 1));
    const auto pending =
        LoadWindow(files_.store(), RunLayout::kWindow, options.directed, kNodes);
    if (!pending.ok()) return CheckRefusal(pending.status());
    for (const PendingExpiry& insertion : *pending) graph.RestoreExpiry(insertion);
    files_.Place(
        {StageWindow(files_.store(), RunLayout::kWindow, graph.pending_expiries())
             .ValueOrDie()});
    const auto again =
        LoadWindow(files_.store(), RunLayout::kWindow, options.directed, kNodes);
    FUZZ_OK(again.status());
    FUZZ_CHECK(again->size() == pending->size(), "the window reads back as another");
    Unobserved nobody;
    for (int step = 0; step < 16; ++step) {
      const EdgeEvent event{bytes.Below(kNodes), bytes.Below(kNodes), 100 + step,
                            EventKind::kToggle};
      FUZZ_OK(graph.Apply(event, nobody));
    }
    constexpr EventTime kEnd = std::numeric_limits<EventTime>::max();
    graph.ExpireUntil(kEnd, nobody);
    const auto& left = graph.pending_expiries();
    FUZZ_CHECK(left.empty() || left.front().time > kEnd - options.window,
               "an insertion has not expired");
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
    for (const char* const name : {"arrival", "since"}) {
      columns.Add(name,
                  Numbers<arrow::Int32Builder>(
                      rows, [&] { return static_cast<std::int32_t>(bytes.Integer()); }),
                  true);
    }
    columns.Add("largest",
                Numbers<arrow::FloatBuilder>(rows, [&] { return bytes.Bits<float>(); }));
    files_.Write(RunLayout::kNodes, columns, rows);
    const auto type = texts ? arrow::utf8() : arrow::int64();
    auto nodes = NodeIdMap::Make(type).ValueOrDie();
    const auto saved = LoadNodes(files_.store(), *nodes);
    if (!saved.ok()) return CheckRefusal(saved.status());
    files_.Place({StageNodes(files_.store(), *nodes, *saved).ValueOrDie()});
    auto again = NodeIdMap::Make(type).ValueOrDie();
    const auto reread = LoadNodes(files_.store(), *again);
    FUZZ_OK(reread.status());
    FUZZ_CHECK(reread->size() == saved->size() && again->size() == nodes->size(),
               "the nodes read back as others");
    // A first pass goes on from them.
    LazySampler sampler({}, {}, {}, [](NodeId) { return 1.0f; });
    for (NodeId node = 0; node < nodes->size(); ++node)
      sampler.RestoreNode(node, (*saved)[node]);
    Schedule schedule;
    FUZZ_OK(sampler.OnEvent({0, nodes->size(), 1, EventKind::kInsert}, &schedule));
  }

  /// Numbers that were taken bring an engine to an end, whatever they are.
  void CheckColumns(Bytes& bytes) {
    const bool directed = bytes.Flag();
    SnapshotGraph graph(directed);
    if (!Open(files_.WriteHistory(bytes, directed)).Load(kSnapshots, graph).ok()) return;
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
        LoadColumns(files_.store(), {&file, 1}, memory, range, graph, engine);
    if (!status.ok()) return CheckRefusal(status);
    for (int step = 0; step < 4; ++step) {
      NodeId src = bytes.Below(kNodes), dst = bytes.Below(kNodes);
      if (!directed && src > dst) std::swap(src, dst);
      const EdgeChange change(src, dst, !graph.HasArc(src, dst));
      FUZZ_OK(graph.Apply({&change, 1}));
    }
    engine.Update(graph);
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

  /// The state of label columns, one of whose files, or the history, is another.
  void CheckLabels(Bytes& bytes) {
    LabelEmbedderOptions options;
    options.alphas = {0.2};
    options.num_folds = 2;
    options.num_classes = 2;
    options.graph.directed = false;
    options.graph.self_loops = true;
    Schedule schedule(3);
    for (int snapshot = 0; snapshot < 3; ++snapshot)
      schedule[snapshot].snapshot = snapshot;
    const Schedule begun(schedule.begin(), schedule.begin() + 2);
    const std::vector<LabelSeed> seeds = {{0, 0, 0}, {1, 1, 1}};
    const auto times = std::make_shared<NodeTimes>();
    times->since.assign(kNodes, 0);
    times->arrivals.assign(kNodes, -1);
    const auto make = [&](const Schedule& points,
                          const std::vector<FileRecord>& history) {
      std::vector<std::unique_ptr<GraphSource>> graphs;
      graphs.push_back(std::make_unique<History>(Open(history)));
      return LabelEmbedder::Make(options, points, seeds, times, std::move(graphs))
          .ValueOrDie();
    };
    const auto labels = make(begun, {});
    FUZZ_OK(labels->Run());
    files_.Place(StageLabelState(files_.store(), *labels).ValueOrDie());
    std::vector<FileRecord> history;
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
        history = files_.WriteHistory(bytes, /*directed=*/false);
        break;
      default: {
        std::string text = files_.Contents(RunLayout::kLabelProgress);
        const std::size_t place = bytes.Bits<std::uint16_t>() % text.size();
        text.replace(place, bytes.Below(8), bytes.Text(40));
        files_.WriteBytes(RunLayout::kLabelProgress, text);
      }
    }
    const auto next = make(schedule, history);
    const arrow::Status status = LoadLabelState(files_.store(), *next);
    // A node that has changed its fold is told as such.
    if (!status.ok() && FaultOf(status)) return CheckRefusal(status);
    FUZZ_CHECK(status.ok() || status.message().find("fold") != std::string::npos,
               status.ToString());
    if (!status.ok()) return;
    const arrow::Status end = next->Run();
    if (!end.ok()) CheckRefusal(end);
  }

  /// Any bytes as each of the Parquet files.
  void CheckRaw(Bytes& bytes) {
    const std::string file = bytes.Rest();
    for (const std::string_view name :
         {RunLayout::kWindow, RunLayout::kNodes, RunLayout::kLabels, RunLayout::kWork}) {
      files_.WriteBytes(name, file);
    }
    for (const auto& name : {RunLayout::HistoryChanges(RunLayout::kHistory, 0),
                             RunLayout::HistoryGraph(RunLayout::kHistory, 0)}) {
      SnapshotGraph graph(/*directed=*/true);
      const arrow::Status status = Open({files_.WriteBytes(name, file)}).Load(1, graph);
      if (!status.ok()) CheckRefusal(status);
    }
    const auto window =
        LoadWindow(files_.store(), RunLayout::kWindow, /*directed=*/true, kNodes);
    if (!window.ok()) CheckRefusal(window.status());
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
