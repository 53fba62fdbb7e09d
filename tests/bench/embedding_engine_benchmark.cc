// How long the engine takes from nothing and for a batch of changes, on a random
// undirected graph. Guards the claim that an update costs less than starting again, and
// shows a solver that became slower. Every trial is verified: a time is only reported
// where the bound holds.
//
//     .venv/bin/meson test -C build --benchmark --verbose

#include "coden/embed/embedding_engine.h"

#include <benchmark/benchmark.h>

#include <memory>

#include "base/random_internal.h"
#include "coden/graph/event_graph.h"
#include "coden/graph/unobserved.h"

namespace coden {
namespace {

constexpr NodeId kNumNodes = 20'000;
constexpr int kNumEdges = 100'000;
constexpr int kNumColumns = 32;

// A graph with its engine, filled and not yet solved.
struct Bench {
  BasicEventGraph<DegreeGraph> events{GraphOptions{}};
  NetChanges changes;
  SnapshotGraph graph{/*directed=*/false};
  EmbeddingEngine engine{EmbedOptions{}, kNumColumns};
  Random random{/*seed=*/1, /*stream=*/0, /*row=*/0};

  Bench() {
    events.RecordTo(&changes);
    graph.Grow(kNumNodes);
    engine.Grow(kNumNodes);
    std::vector<float> vector(kNumColumns);
    for (NodeId node = 0; node < kNumNodes; ++node) {
      for (float& value : vector) value = static_cast<float>(random.Normal());
      engine.SetFeatures(node, vector);
    }
    Toggle(kNumEdges);
  }

  // Neither a toggle nor the changes that it amounts to can fail.
  void Toggle(int count) {
    Unobserved nobody;
    for (int i = 0; i < count; ++i) {
      const auto src = static_cast<NodeId>(random.Below(kNumNodes));
      const auto dst = static_cast<NodeId>(random.Below(kNumNodes));
      ARROW_UNUSED(events.Apply({src, dst, /*time=*/0, EventKind::kToggle}, nobody));
    }
    ARROW_UNUSED(graph.Apply(changes.Take()));
  }

  SolveWork Update() {
    const SolveWork work = engine.Update(graph);
    graph.Settle();
    return work;
  }

  bool WithinBound() const {
    return engine.ErrorBound() <= kNumNodes * EmbedOptions{}.epsilon;
  }
};

void BM_Start(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto bench = std::make_unique<Bench>();
    state.ResumeTiming();
    const SolveWork work = bench->Update();
    state.PauseTiming();
    state.counters["sweeps"] = static_cast<double>(work.sweeps);
    if (!bench->WithinBound()) state.SkipWithError("the error is above n * epsilon");
    bench.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(BM_Start)->Unit(benchmark::kMillisecond)->Iterations(3);

void BM_Batch(benchmark::State& state) {
  auto bench = std::make_unique<Bench>();
  bench->Update();
  for (auto _ : state) {
    state.PauseTiming();
    bench->Toggle(static_cast<int>(state.range(0)));
    state.ResumeTiming();
    const SolveWork work = bench->Update();
    state.PauseTiming();
    state.counters["sweeps"] = static_cast<double>(work.sweeps);
    if (!bench->WithinBound()) state.SkipWithError("the error is above n * epsilon");
    state.ResumeTiming();
  }
}
BENCHMARK(BM_Batch)->Arg(1)->Arg(1000)->Unit(benchmark::kMillisecond)->Iterations(5);

}  // namespace
}  // namespace coden

BENCHMARK_MAIN();
