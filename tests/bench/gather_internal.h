// How fast this machine can fetch what a dense sweep must fetch: for every arc, the line
// of the neighbour, at the indices of a given graph. Nothing is computed but a sum, and
// nothing is stored, so no sweep over the same adjacency can be faster; what a sweep
// reaches of it says how well it uses the memory.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "bench/stopwatch_internal.h"
#include "coden/graph/snapshot_graph.h"
#include "embed/row_order_internal.h"

namespace coden {

struct GatherResult {
  double seconds = std::numeric_limits<double>::infinity();  // the fastest pass
  std::int64_t lines = 0;                                    // fetched by one pass
  double checksum = 0.0;  // keeps the compiler from leaving the work out
};

/// Four floats, which any processor adds at once: the sum stays in registers.
typedef float GatherQuad __attribute__((vector_size(16)));

template <int kFloats>
struct alignas(64) GatherLine {
  GatherQuad value[kFloats / 4];
};

/// `ahead` is how many arcs ahead of the sum a line is asked for; 0 leaves it to the
/// processor.
template <int kFloats>
double GatherPass(std::span<const GatherLine<kFloats>> lines,
                  std::span<const NodeId> targets, std::size_t ahead) {
  GatherQuad sum[kFloats / 4] = {};
  for (std::size_t arc = 0; arc < targets.size(); ++arc) {
    if (ahead > 0 && arc + ahead < targets.size()) {
      const auto* next = reinterpret_cast<const char*>(&lines[targets[arc + ahead]]);
      for (std::size_t byte = 0; byte < sizeof(sum); byte += 64) {
        __builtin_prefetch(next + byte);
      }
    }
    const GatherLine<kFloats>& line = lines[targets[arc]];
#pragma GCC unroll 8
    for (int i = 0; i < kFloats / 4; ++i) sum[i] += line.value[i];
  }
  double total = 0.0;
  for (const GatherQuad& quad : sum) total += quad[0] + quad[1] + quad[2] + quad[3];
  return total;
}

template <int kFloats>
GatherResult GatherLines(NodeId num_nodes, std::span<const NodeId> targets) {
  constexpr int kPasses = 5;
  // Huge pages, as a solver that is in earnest would ask for.
  constexpr std::size_t kPage = std::size_t{1} << 21;
  const std::size_t bytes = (num_nodes * sizeof(GatherLine<kFloats>) / kPage + 1) * kPage;
  const std::unique_ptr<void, decltype(&std::free)> memory(
      std::aligned_alloc(kPage, bytes), &std::free);
  madvise(memory.get(), bytes, MADV_HUGEPAGE);
  const std::span<GatherLine<kFloats>> lines(
      static_cast<GatherLine<kFloats>*>(memory.get()), num_nodes);
  for (auto& line : lines) {
    for (GatherQuad& quad : line.value) quad = GatherQuad{1, 1, 1, 1};
  }
  GatherResult result;
  result.lines = static_cast<std::int64_t>(targets.size());
  for (const std::size_t ahead : {0, 8, 16, 32}) {
    for (int pass = 0; pass < kPasses; ++pass) {
      const Stopwatch watch;
      result.checksum += GatherPass<kFloats>(lines, targets, ahead);
      result.seconds = std::min(result.seconds, watch.Elapsed().cpu);
    }
  }
  return result;
}

/// By size of a line in bytes: 64 and 128, the sizes that a sweep may use. Lines lie in
/// the order of `nodes`, which are those of the graph that have an arc.
inline std::map<int, GatherResult> GatherBandwidth(const SnapshotGraph& graph,
                                                   std::span<const NodeId> nodes) {
  RowOrder order;
  order.Grow(graph.num_nodes());
  for (const NodeId node : nodes) order.Connect(node);
  std::vector<NodeId> targets;
  targets.reserve(graph.num_arcs());
  for (Row row = 0; row < order.num_connected(); ++row) {
    for (const NodeId node : graph.out_neighbours(order.node_at(row)))
      targets.push_back(order.row_of(node));
  }
  return {{64, GatherLines<16>(graph.num_nodes(), targets)},
          {128, GatherLines<32>(graph.num_nodes(), targets)}};
}

}  // namespace coden
