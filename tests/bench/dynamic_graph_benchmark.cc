// How many arcs a graph can take or lose in a second, with uniform ends and with the
// skewed ends of R-MAT, and how long a walk over all neighbours takes afterwards. Guards
// the claims that the graph does millions of toggles a second and that a long history
// ruins neither its memory nor the order of its lists. The graph is compared with a set
// of arcs before a time is reported.
//
//     .venv/bin/meson test -C build --benchmark --verbose

#include "coden/graph/dynamic_graph.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "pipeline/random_internal.h"

namespace coden {
namespace {

constexpr int kNumNodesLog2 = 19;
constexpr NodeId kNumNodes = 1 << kNumNodesLog2;
constexpr int kNumToggles = 2'000'000;

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

template <Arc (*Draw)(Random&)>
bool IsRight(const DynamicGraph& graph) {
  static const std::set<Arc> expected = [] {
    std::set<Arc> present;
    for (const Arc& arc : Arcs<Draw>()) {
      if (!present.insert(arc).second) present.erase(arc);
    }
    return present;
  }();
  auto next = expected.begin();
  for (NodeId node = 0; node < kNumNodes; ++node) {
    for (const NodeId other : graph.out_neighbours(node)) {
      if (next == expected.end() || *next++ != Arc{node, other}) return false;
    }
  }
  return next == expected.end();
}

void ToggleAll(const std::vector<Arc>& arcs, DynamicGraph& graph) {
  for (const auto& [src, dst] : arcs) graph.Toggle(graph.FindArc(src, dst));
}

template <Arc (*Draw)(Random&)>
void BM_Toggle(benchmark::State& state) {
  const auto& arcs = Arcs<Draw>();
  for (auto _ : state) {
    state.PauseTiming();
    DynamicGraph graph;
    graph.Grow(kNumNodes);
    state.ResumeTiming();
    ToggleAll(arcs, graph);
    state.PauseTiming();
    if (!IsRight<Draw>(graph)) state.SkipWithError("the graph differs from the set");
    state.counters["bytes_per_arc"] =
        static_cast<double>(graph.MemoryBytes() - 16 * kNumNodes) /
        static_cast<double>(graph.num_arcs());
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kNumToggles);
}
BENCHMARK(BM_Toggle<UniformArc>)->Unit(benchmark::kMillisecond)->Iterations(5);
BENCHMARK(BM_Toggle<RmatArc>)->Unit(benchmark::kMillisecond)->Iterations(5);

template <Arc (*Draw)(Random&)>
void BM_Walk(benchmark::State& state) {
  DynamicGraph graph;
  graph.Grow(kNumNodes);
  ToggleAll(Arcs<Draw>(), graph);
  if (!IsRight<Draw>(graph)) state.SkipWithError("the graph differs from the set");
  for (auto _ : state) {
    std::int64_t sum = 0;
    for (NodeId node = 0; node < kNumNodes; ++node) {
      for (const NodeId other : graph.out_neighbours(node)) sum += other;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * graph.num_arcs());
}
BENCHMARK(BM_Walk<UniformArc>)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Walk<RmatArc>)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace coden

BENCHMARK_MAIN();
