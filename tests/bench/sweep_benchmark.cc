// What one sweep over a block of columns costs, by number type and width, per arc: the
// kernel behind every dense update. Verified: many sweeps bring a proving sweep's bound
// down to rounding.
//
//     build/tests/benchmark_sweep

#include <benchmark/benchmark.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/random_internal.h"
#include "embed/column_block_internal.h"
#include "embed/sweep_kernels_internal.h"

namespace coden {
namespace {

constexpr NodeId kNumNodes = 50'000;
constexpr int kNumEdges = 250'000;
constexpr int kSettlingSweeps = 120;

// A random undirected graph, its plan, and a block of columns.
template <typename T, int kWidth>
struct Bench {
  SnapshotGraph graph{/*directed=*/false};
  RowOrder order;
  SweepPlan plan;
  ColumnBlock block{Columns(),
                    sizeof(T) == sizeof(float) ? Precision::kFloat : Precision::kDouble};

  Bench() {
    Random random{/*seed=*/1, /*stream=*/0, /*row=*/0};
    graph.Grow(kNumNodes);
    order.Grow(kNumNodes);
    block.Grow(kNumNodes);
    std::set<EdgeChange> edges;
    for (int i = 0; i < kNumEdges; ++i) {
      const auto src = static_cast<NodeId>(random.Below(kNumNodes));
      const auto dst = static_cast<NodeId>(random.Below(kNumNodes));
      if (src != dst)
        edges.emplace(std::min(src, dst), std::max(src, dst), /*present=*/true);
    }
    // New edges of an empty graph cannot fail.
    ARROW_UNUSED(graph.Apply(std::vector<EdgeChange>(edges.begin(), edges.end())));
    std::vector<std::int32_t> degrees(kNumNodes);
    for (NodeId node = 0; node < kNumNodes; ++node) {
      order.Connect(node);
      degrees[node] = static_cast<std::int32_t>(graph.out_degree(node));
    }
    for (std::int64_t i = 0; i < std::int64_t{kNumNodes} * kWidth; ++i)
      block.x()[i] = static_cast<float>(random.Normal());
    plan = PlanSweeps(RowGraph(graph, order), degrees,
                      {/*alpha=*/0.2, Propagation::kMass}, /*symmetric=*/true);
  }

  static std::vector<int> Columns() {
    std::vector<int> columns(kWidth);
    for (int i = 0; i < kWidth; ++i) columns[i] = i;
    return columns;
  }

  BlockView<T> view() { return {block.x(), block.g<T>()}; }

  void SweepAll() {
    T relaxation[kWidth];
    double moved[kWidth];
    std::fill_n(relaxation, kWidth, T{1});
    Sweep<T, kWidth>(plan, 0, plan.num_visits(), view(), relaxation, moved);
  }

  // The bound per node of the worst column, by a proving sweep.
  double Prove() {
    double active[kWidth];
    double bound[kWidth];
    double rounding[kWidth];
    std::fill_n(active, kWidth, 1.0);
    ProvingSweep<T, kWidth>(plan, view(), active, {bound, rounding});
    return *std::max_element(bound, bound + kWidth) / kNumNodes;
  }

  void Verify(benchmark::State& state) {
    for (int i = 0; i < kSettlingSweeps; ++i) SweepAll();
    if (!(Prove() < 1e-7)) state.SkipWithError("the sweeps do not converge");
    state.counters["arc"] = benchmark::Counter(
        static_cast<double>(graph.num_arcs()),
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  }
};

template <typename T, int kWidth>
void BM_Sweep(benchmark::State& state) {
  Bench<T, kWidth> bench;
  for (auto _ : state) bench.SweepAll();
  bench.Verify(state);
}

template <typename T, int kWidth>
void BM_ProvingSweep(benchmark::State& state) {
  Bench<T, kWidth> bench;
  for (auto _ : state) benchmark::DoNotOptimize(bench.Prove());
  bench.Verify(state);
}

BENCHMARK(BM_Sweep<float, 16>);
BENCHMARK(BM_Sweep<float, 8>);
BENCHMARK(BM_Sweep<float, 4>);
BENCHMARK(BM_Sweep<double, 16>);
BENCHMARK(BM_ProvingSweep<float, 16>);
BENCHMARK(BM_ProvingSweep<double, 16>);

}  // namespace
}  // namespace coden

BENCHMARK_MAIN();
