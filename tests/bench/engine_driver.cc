// Our side of tests/bench/peers.py: run a scenario through graph and engine, and print
// what every step cost as JSON.
//
//     engine_driver MODE SCENARIO [--epsilon E] [--alpha A] [--threads N] [--limit N]
//                   [--out PREFIX]
//
//     batches            the start, then every batch as one update
//     single             the start, then the edges of the batches one at a time
//     resolve            the same steps as batches, each by an engine that starts afresh
//     gather_bandwidth   sum the cache lines of all neighbours: what the memory allows
//     snapshot           write the features as a snapshot, by the stage that does so
//     spin               whether two threads get two cores; takes no scenario
//
// Charged is what a user pays for an update: resolving the events into net changes,
// applying these and solving. Features
// are handed over before the clock starts, as they are for every peer. With --out, the
// embeddings after the start and after the last step go to PREFIX.start and PREFIX.last
// as raw float32, so that the caller can verify them.

#include <tbb/global_control.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "bench/gather_internal.h"
#include "bench/scenario_internal.h"
#include "bench/stopwatch_internal.h"
#include "coden/embed/embedder.h"
#include "coden/embed/embedding_engine.h"
#include "coden/graph/event_graph.h"
#include "coden/graph/unobserved.h"
#include "coden/snapshot/snapshot_writer.h"
#include "coden/store/run_layout.h"
#include "coden/store/run_store.h"
#include "embed/column_block_internal.h"

namespace coden {
namespace {

using Json = nlohmann::json;

struct Arguments {
  std::string mode;
  std::string scenario;
  std::string out;
  double alpha = 0.2;
  double epsilon = 1e-7;
  int threads = 1;
  std::size_t limit = 0;  // steps after the start; 0 is all
};

arrow::Result<Arguments> Parse(std::span<char*> words) {
  Arguments arguments;
  std::size_t next = 1;
  if (next < words.size()) arguments.mode = words[next++];
  if (next < words.size() && *words[next] != '-') arguments.scenario = words[next++];
  for (; next + 1 < words.size(); next += 2) {
    const std::string name = words[next];
    const std::string value = words[next + 1];
    if (name == "--alpha") {
      arguments.alpha = std::stod(value);
    } else if (name == "--epsilon") {
      arguments.epsilon = std::stod(value);
    } else if (name == "--threads") {
      arguments.threads = std::stoi(value);
    } else if (name == "--limit") {
      arguments.limit = std::stoul(value);
    } else if (name == "--out") {
      arguments.out = value;
    } else {
      return arrow::Status::Invalid("there is no option ", name);
    }
  }
  if (next != words.size()) return arrow::Status::Invalid("an option lacks its value");
  return arguments;
}

// As the first pass over a log does.
constexpr std::int64_t kRowsAhead = 16;

// A full block of float columns: what a sweep fetches for one arc.
constexpr int kSweepLineBytes = ColumnBlock::kMostColumns * sizeof(float);

arrow::Status SaveRows(const EmbeddingEngine& engine, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  std::vector<float> row(engine.num_columns());
  std::vector<double> rounding(engine.num_columns());
  for (NodeId node = 0; node < engine.num_nodes(); ++node) {
    engine.CopyRows({&node, 1}, row.data(), rounding);
    file.write(reinterpret_cast<const char*>(row.data()),
               static_cast<std::streamsize>(row.size() * sizeof(float)));
  }
  file.close();
  if (!file) return arrow::Status::IOError("cannot write '", path, "'");
  return arrow::Status::OK();
}

// A graph and the engine that follows it.
class Replay {
 public:
  Replay(const Scenario& scenario, const Arguments& arguments)
      : scenario_(scenario),
        arguments_(arguments),
        arrivals_(std::make_shared<std::vector<std::int32_t>>(scenario.Arrivals())),
        events_({.directed = scenario.directed}),
        graph_(scenario.directed) {
    events_.RecordTo(&changes_);
    graph_.Grow(static_cast<NodeId>(scenario.num_nodes));
  }

  const SnapshotGraph& graph() const { return graph_; }
  const EmbeddingEngine& engine() const { return *engine_; }

  /// Nodes with an arc, in the order in which an engine that has just started keeps their
  /// rows.
  std::vector<NodeId> NodesByRow() const {
    std::vector<bool> connected(graph_.num_nodes(), false);
    std::vector<NodeId> nodes;
    const auto connect = [&](NodeId node) {
      if (!connected[node]) nodes.push_back(node);
      connected[node] = true;
    };
    for (NodeId node = 0; node < graph_.num_nodes(); ++node) {
      if (graph_.out_degree(node) > 0) connect(node);
      for (const NodeId neighbour : graph_.out_neighbours(node)) connect(neighbour);
    }
    std::ranges::sort(nodes, {}, [&](NodeId node) { return (*arrivals_)[node]; });
    return nodes;
  }

  /// Put a new engine in place that has the features and has solved nothing.
  arrow::Status StartEngine() {
    EmbedOptions options;
    options.alpha = arguments_.alpha;
    options.epsilon = arguments_.epsilon;
    engine_ = std::make_unique<EmbeddingEngine>(options, scenario_.num_columns);
    engine_->Grow(static_cast<NodeId>(scenario_.num_nodes));
    engine_->SetArrivals(arrivals_);
    return scenario_.ForEachFeature([this](NodeId node, std::span<const float> row) {
      engine_->SetFeatures(node, row);
    });
  }

  arrow::Result<Cost> Apply(std::int64_t begin, std::int64_t end) {
    const Stopwatch watch;
    for (std::int64_t index = begin; index < end; ++index) {
      if (index + kRowsAhead < end) events_.Prefetch(scenario_.edge(index + kRowsAhead));
      ARROW_RETURN_NOT_OK(events_.Apply(scenario_.edge(index), nobody_));
    }
    ARROW_RETURN_NOT_OK(graph_.Apply(changes_.Take()));
    return watch.Elapsed();
  }

  /// Build the graph again, so that every arc is a change, as it is to a new engine.
  arrow::Status BuildAgain() {
    const NodeId num_nodes = graph_.num_nodes();
    graph_ = SnapshotGraph(scenario_.directed);
    graph_.Grow(num_nodes);
    return graph_.Apply(events_.graph().Edges(scenario_.directed));
  }

  Cost Update(SolveWork* work) {
    const Stopwatch watch;
    *work = engine_->Update(graph_);
    graph_.Settle();
    return watch.Elapsed();
  }

 private:
  const Scenario& scenario_;
  const Arguments& arguments_;
  std::shared_ptr<const std::vector<std::int32_t>> arrivals_;
  Unobserved nobody_;
  BasicEventGraph<DegreeGraph> events_;
  NetChanges changes_;
  SnapshotGraph graph_;
  std::unique_ptr<EmbeddingEngine> engine_;
};

// Where each step ends, as numbers of edges.
std::vector<std::int64_t> StepEnds(const Scenario& scenario, const Arguments& arguments) {
  std::vector<std::int64_t> ends = scenario.step_ends;
  if (arguments.mode == "single" && !ends.empty()) {
    ends.resize(1);
    while (ends.back() < scenario.step_ends.back()) ends.push_back(ends.back() + 1);
  }
  if (arguments.limit > 0) ends.resize(std::min(ends.size(), arguments.limit + 1));
  return ends;
}

arrow::Result<Json> Solve(const Scenario& scenario, const Arguments& arguments) {
  ResetPeakMemory();
  const double memory_before = StatusBytes("VmRSS");
  Replay replay(scenario, arguments);
  ARROW_RETURN_NOT_OK(replay.StartEngine());
  const std::vector<std::int64_t> ends = StepEnds(scenario, arguments);
  Json steps = Json::array();
  double memory_peak = 0.0;
  SolveWork total;
  std::int64_t begin = 0;
  for (std::size_t step = 0; step < ends.size(); ++step) {
    ARROW_ASSIGN_OR_RAISE(const Cost apply, replay.Apply(begin, ends[step]));
    if (arguments.mode == "resolve") {
      ARROW_RETURN_NOT_OK(replay.StartEngine());
      ARROW_RETURN_NOT_OK(replay.BuildAgain());
    }
    SolveWork work;
    const Cost update = replay.Update(&work);
    total.Add(work);
    memory_peak = std::max(memory_peak, StatusBytes("VmHWM"));
    steps.push_back({{"edges", ends[step] - begin},
                     {"apply_wall", apply.wall},
                     {"apply_cpu", apply.cpu},
                     {"update_wall", update.wall},
                     {"update_cpu", update.cpu},
                     {"sweeps", work.sweeps},
                     {"proving_sweeps", work.proving_sweeps},
                     {"pushed_arcs", work.pushed_arcs},
                     {"error_bound", replay.engine().ErrorBound()}});
    begin = ends[step];
    if (arguments.out.empty()) continue;
    if (step == 0)
      ARROW_RETURN_NOT_OK(SaveRows(replay.engine(), arguments.out + ".start"));
    if (step + 1 == ends.size()) {
      ARROW_RETURN_NOT_OK(SaveRows(replay.engine(), arguments.out + ".last"));
    }
  }
  return Json{{"steps", steps},
              {"num_nodes", scenario.num_nodes},
              {"num_columns", scenario.num_columns},
              {"num_arcs", replay.graph().num_arcs()},
              {"memory_before", memory_before},
              {"memory_peak", memory_peak},
              {"sweep_seconds", total.sweep_seconds},
              {"sweep_lines", total.swept_arcs},
              {"sweep_line_bytes", kSweepLineBytes}};
}

arrow::Result<Json> Gather(const Scenario& scenario, const Arguments& arguments) {
  Replay replay(scenario, arguments);
  ARROW_RETURN_NOT_OK(replay.Apply(0, scenario.step_ends.back()).status());
  Json sizes = Json::object();
  for (const auto& [line_bytes, result] :
       GatherBandwidth(replay.graph(), replay.NodesByRow())) {
    sizes[std::to_string(line_bytes)] = {{"seconds", result.seconds},
                                         {"lines", result.lines},
                                         {"checksum", result.checksum}};
  }
  return Json{{"line_bytes", sizes}};
}

// The features as the rows that `embed` would emit for one snapshot.
arrow::Result<BatchPtr> SnapshotRows(const Scenario& scenario) {
  const SchemaPtr schema = Embedder::OutputSchema();
  std::vector<float> values;
  std::vector<NodeId> nodes;
  std::vector<std::int32_t> offsets = {0};
  ARROW_RETURN_NOT_OK(
      scenario.ForEachFeature([&](NodeId node, std::span<const float> row) {
        nodes.push_back(node);
        values.insert(values.end(), row.begin(), row.end());
        offsets.push_back(static_cast<std::int32_t>(values.size()));
      }));
  const auto count = static_cast<std::int64_t>(nodes.size());
  const auto num_values = static_cast<std::int64_t>(values.size());
  auto numbers = std::make_shared<arrow::FloatArray>(
      num_values, arrow::Buffer::FromVector(std::move(values)));
  auto embeddings = std::make_shared<arrow::ListArray>(
      schema->GetFieldByName("embedding")->type(), count,
      arrow::Buffer::FromVector(std::move(offsets)), numbers);
  auto snapshots = std::make_shared<arrow::Int32Array>(
      count, arrow::Buffer::FromVector(std::vector<std::int32_t>(count, 0)));
  auto node_numbers = std::make_shared<arrow::Int32Array>(
      count, arrow::Buffer::FromVector(std::move(nodes)));
  return arrow::RecordBatch::Make(
      schema, count, arrow::ArrayVector{snapshots, node_numbers, embeddings});
}

// Write a snapshot below the folder --out, a few times: the first call of a process also
// pays for setting up Arrow, which a run pays once.
arrow::Result<Json> Snapshot(const Scenario& scenario, const Arguments& arguments) {
  constexpr int kPasses = 4;
  ARROW_ASSIGN_OR_RAISE(const BatchPtr rows, SnapshotRows(scenario));
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(arguments.out));
  ARROW_RETURN_NOT_OK(store->Prepare());
  ARROW_ASSIGN_OR_RAISE(const auto nodes, NodeIdMap::Make(arrow::int64()));
  std::vector<std::int64_t> ids(rows->num_rows());
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<NodeId> numbers;
  ARROW_RETURN_NOT_OK(nodes->Encode(
      arrow::Int64Array(rows->num_rows(), arrow::Buffer::FromVector(std::move(ids))),
      &numbers));
  const Schedule schedule(1);
  const Emit nothing = [](const BatchPtr&) { return arrow::Status::OK(); };
  Cost least;
  for (int pass = 0; pass < kPasses; ++pass) {
    const Stopwatch watch;
    SnapshotWriter writer(SnapshotOptions{}, *store, schedule, *nodes,
                          scenario.num_columns, SnapshotProvenance{}, /*num_done=*/0,
                          {rows->num_rows()},
                          [](const WrittenSnapshot&) { return arrow::Status::OK(); });
    ARROW_RETURN_NOT_OK(writer.Bind(rows->schema()).status());
    ARROW_RETURN_NOT_OK(writer.Push(rows, nothing));
    ARROW_RETURN_NOT_OK(writer.Finish(nothing));
    const Cost cost = watch.Elapsed();
    least.wall = pass == 0 ? cost.wall : std::min(least.wall, cost.wall);
    least.cpu = pass == 0 ? cost.cpu : std::min(least.cpu, cost.cpu);
  }
  return Json{{"wall", least.wall},
              {"cpu", least.cpu},
              {"path", store->LocalPath(store->StageName(RunLayout::Snapshot(0)))}};
}

double SpinSeconds(int num_threads) {
  const auto spin = [] {
    for (volatile std::int64_t count = 0; count < 200'000'000;) count = count + 1;
  };
  const Stopwatch watch;
  std::vector<std::thread> threads;
  for (int i = 1; i < num_threads; ++i) threads.emplace_back(spin);
  spin();
  for (std::thread& thread : threads) thread.join();
  return watch.Elapsed().wall;
}

arrow::Result<Json> Run(const Arguments& arguments) {
  if (arguments.mode == "spin") {
    return Json{{"one_thread", SpinSeconds(1)}, {"two_threads", SpinSeconds(2)}};
  }
  using Mode = arrow::Result<Json> (*)(const Scenario&, const Arguments&);
  static const std::map<std::string, Mode> modes = {{"batches", Solve},
                                                    {"single", Solve},
                                                    {"resolve", Solve},
                                                    {"gather_bandwidth", Gather},
                                                    {"snapshot", Snapshot}};
  const auto mode = modes.find(arguments.mode);
  if (mode == modes.end()) {
    return arrow::Status::Invalid("there is no mode '", arguments.mode, "'");
  }
  ARROW_ASSIGN_OR_RAISE(const Scenario scenario, Scenario::Read(arguments.scenario));
  return mode->second(scenario, arguments);
}

arrow::Result<Json> Main(std::span<char*> words) {
  ARROW_ASSIGN_OR_RAISE(const Arguments arguments, Parse(words));
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(arguments.threads));
  return Run(arguments);
}

}  // namespace
}  // namespace coden

int main(int argc, char** argv) {
  const auto result = coden::Main({argv, static_cast<std::size_t>(argc)});
  if (!result.ok()) {
    std::cerr << "engine_driver: " << result.status().message() << '\n';
    return 1;
  }
  std::cout << *result << '\n';
  return 0;
}
