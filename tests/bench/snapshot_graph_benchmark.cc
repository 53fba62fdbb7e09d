// How many arcs a graph takes or loses in a second, in large updates and in small ones,
// with uniform ends and with the skewed ends of R-MAT, and how long a walk over all
// neighbours takes afterwards. Guards the claims that the graph takes millions of changes
// a second and that many small updates ruin neither its memory nor the order of its
// lists. The graph is compared with a set of arcs before a time is reported.
//
//     .venv/bin/meson test -C build --benchmark --verbose

#include "coden/graph/snapshot_graph.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/random_internal.h"

namespace coden {
namespace {

constexpr int kNumNodesLog2 = 19;
constexpr NodeId kNumNodes = 1 << kNumNodesLog2;
constexpr int kNumToggles = 2'000'000;
constexpr int kLargeUpdate = 500'000;
constexpr int kSmallUpdate = 1'000;

using Arc = std::pair<NodeId, NodeId>;

Arc UniformArc(Random& random) {
  return {static_cast<NodeId>(random.Below(kNumNodes)),
          static_cast<NodeId>(random.Below(kNumNodes))};
}

// The quadrant probabilities of Graph500.
Arc RmatArc(Random& random) {
  Arc arc{0, 0};
  for (int level = 0; level < kNumNodesLog2; ++level) {
    const double draw = random.Uniform();
    arc.first = 2 * arc.first + (draw >= 0.76);
    arc.second = 2 * arc.second + ((draw >= 0.57 && draw < 0.76) || draw >= 0.95);
  }
  return arc;
}

template <Arc (*Draw)(Random&)>
const std::vector<Arc>& Arcs() {
  static const std::vector<Arc> arcs = [] {
    Random random(/*seed=*/1, /*stream=*/0, /*row=*/0);
    std::vector<Arc> drawn(kNumToggles);
    for (Arc& arc : drawn) arc = Draw(random);
    // Every other arc comes twice, so that toggles also remove.
    for (std::size_t i = 3; i < drawn.size(); i += 4) {
      drawn[i] = drawn[random.Below(i)];
    }
    return drawn;
  }();
  return arcs;
}

// The toggles of all arcs as updates of so many each, and the arcs that are left.
struct Updates {
  std::vector<std::vector<EdgeChange>> changes;
  std::set<Arc> arcs;
};

template <Arc (*Draw)(Random&)>
const Updates& UpdatesOf(int size) {
  static std::map<int, Updates> by_size;
  Updates& updates = by_size[size];
  if (!updates.changes.empty()) return updates;
  NetChanges net;
  for (const Arc& arc : Arcs<Draw>()) {
    const bool present = updates.arcs.insert(arc).second;
    if (!present) updates.arcs.erase(arc);
    net.Add(arc.first, arc.second, present);
    if (net.size() == size) updates.changes.push_back(net.Take());
  }
  return updates;
}

bool IsRight(const SnapshotGraph& graph, const std::set<Arc>& expected) {
  auto next = expected.begin();
  for (NodeId node = 0; node < kNumNodes; ++node) {
    for (const NodeId other : graph.out_neighbours(node)) {
      if (next == expected.end() || *next++ != Arc{node, other}) return false;
    }
  }
  return next == expected.end();
}

SnapshotGraph EmptyGraph() {
  SnapshotGraph graph(/*directed=*/true);
  graph.Grow(kNumNodes);
  return graph;
}

void ApplyAll(const Updates& updates, SnapshotGraph& graph, benchmark::State& state) {
  for (const std::vector<EdgeChange>& changes : updates.changes) {
    if (!graph.Apply(changes).ok()) state.SkipWithError("the graph refuses a change");
    graph.Settle();
  }
}

template <Arc (*Draw)(Random&)>
void BM_Apply(benchmark::State& state) {
  const Updates& updates = UpdatesOf<Draw>(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    state.PauseTiming();
    SnapshotGraph graph = EmptyGraph();
    state.ResumeTiming();
    ApplyAll(updates, graph, state);
    state.PauseTiming();
    if (!IsRight(graph, updates.arcs)) state.SkipWithError("the graph differs");
    state.counters["bytes_per_arc"] =
        static_cast<double>(graph.MemoryBytes() - 16 * kNumNodes) /
        static_cast<double>(graph.num_arcs());
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kNumToggles);
}
BENCHMARK(BM_Apply<UniformArc>)
    ->Arg(kLargeUpdate)
    ->Arg(kSmallUpdate)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);
BENCHMARK(BM_Apply<RmatArc>)
    ->Arg(kLargeUpdate)
    ->Arg(kSmallUpdate)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);

template <Arc (*Draw)(Random&)>
void BM_Walk(benchmark::State& state) {
  const Updates& updates = UpdatesOf<Draw>(static_cast<int>(state.range(0)));
  SnapshotGraph graph = EmptyGraph();
  ApplyAll(updates, graph, state);
  if (!IsRight(graph, updates.arcs)) state.SkipWithError("the graph differs");
  for (auto _ : state) {
    std::int64_t sum = 0;
    for (NodeId node = 0; node < kNumNodes; ++node) {
      for (const NodeId other : graph.out_neighbours(node)) sum += other;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * graph.num_arcs());
}
BENCHMARK(BM_Walk<UniformArc>)
    ->Arg(kLargeUpdate)
    ->Arg(kSmallUpdate)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Walk<RmatArc>)
    ->Arg(kLargeUpdate)
    ->Arg(kSmallUpdate)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace coden

BENCHMARK_MAIN();
