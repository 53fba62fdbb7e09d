// How much what a model knows differs between neighbours. Little energy means that nodes
// have become alike (over-smoothing); the models of the paper are compared by it over
// time.
//
// Only labelled nodes have vectors, as only they are trained on: arcs to others are left
// out and counted. Degrees are those of the whole graph.

#include "train/energy_internal.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "coden/base/printable.h"
#include "coden/state/committed_run.h"

namespace coden {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr NodeId kNodesPerTask = 1024;  // the sum's rounding follows from it

class EnergyMeter {
 public:
  EnergyMeter(const TrainingInput& input, std::vector<std::int64_t> row_of,
              const VectorsAt& vectors)
      : input_(input), row_of_(std::move(row_of)), vectors_(vectors) {}

  // By prediction time.
  arrow::Result<std::vector<Energy>> Measure(GraphSource& graphs, bool directed,
                                             const RunContext& context) {
    const auto& predictions = input_.data.predictions;
    std::vector<Energy> energies(predictions.size(), Energy{kNaN, kNaN, 0});
    SnapshotGraph graph(directed);
    for (const SchedulePoint& point : input_.snapshots) {
      if (!point.at_prediction) continue;
      const auto found = std::find_if(
          predictions.begin(), predictions.end(),
          [&](const PredictionPoint& one) { return one.prediction == point.prediction; });
      if (found == predictions.end()) continue;
      ARROW_RETURN_NOT_OK(context.stop.Poll());
      const std::int64_t k = found - predictions.begin();
      ARROW_ASSIGN_OR_RAISE(const std::vector<float> rows, vectors_(k));
      if (rows.empty()) continue;
      ARROW_RETURN_NOT_OK(graphs.AdvanceTo(point.snapshot, graph));
      graph.Settle();
      const auto width = static_cast<std::int64_t>(rows.size()) / input_.data.num_nodes;
      energies[k] = DirichletEnergy(graph, row_of_, rows, width);
      context.progress->Advance(k + 1);
    }
    return energies;
  }

 private:
  const TrainingInput& input_;
  std::vector<std::int64_t> row_of_;
  const VectorsAt& vectors_;
};

}  // namespace

double Energy::relative() const { return squares > 0.0 ? energy / squares : kNaN; }

Energy DirichletEnergy(const SnapshotGraph& graph, std::span<const std::int64_t> row_of,
                       std::span<const float> rows, std::int64_t width) {
  const auto scale = [&](NodeId node) {
    return 1.0 / std::sqrt(1.0 + static_cast<double>(graph.out_degree(node)));
  };
  const auto vector = [&](NodeId node) {
    return rows.data() + row_of[static_cast<std::size_t>(node)] * width;
  };
  // A node without an arc, to it or from it, has no part in the energy.
  std::vector<std::uint8_t> connected(static_cast<std::size_t>(graph.num_nodes()), 0);
  for (NodeId i = 0; i < graph.num_nodes(); ++i) {
    for (const NodeId j : graph.out_neighbours(i)) connected[i] = connected[j] = 1;
  }
  return tbb::parallel_deterministic_reduce(
      tbb::blocked_range<NodeId>(0, graph.num_nodes(), kNodesPerTask), Energy{},
      [&](const tbb::blocked_range<NodeId>& range, Energy sum) {
        for (NodeId i = range.begin(); i < range.end(); ++i) {
          const auto neighbours = graph.out_neighbours(i);
          if (row_of[i] < 0) {
            sum.left_out += static_cast<std::int64_t>(neighbours.size());
            continue;
          }
          const double of_i = scale(i);
          const float* m_i = vector(i);
          for (std::int64_t c = 0; c < width && connected[i] != 0; ++c)
            sum.squares += static_cast<double>(m_i[c]) * m_i[c];
          for (const NodeId j : neighbours) {
            if (row_of[j] < 0) {
              ++sum.left_out;
              continue;
            }
            const double of_j = scale(j);
            const float* m_j = vector(j);
            double squares = 0.0;
            for (std::int64_t c = 0; c < width; ++c) {
              const double difference = of_i * m_i[c] - of_j * m_j[c];
              squares += difference * difference;
            }
            sum.energy += 0.5 * squares;
          }
        }
        return sum;
      },
      [](const Energy& a, const Energy& b) {
        return Energy{a.energy + b.energy, a.squares + b.squares,
                      a.left_out + b.left_out};
      });
}

arrow::Result<std::vector<Energy>> MeasureEnergy(const Settings& settings,
                                                 const RunStore& store,
                                                 const TrainingInput& input,
                                                 const VectorsAt& vectors,
                                                 const RunContext& context) {
  if (input.data.num_channels() == 0)
    return std::vector<Energy>(input.data.predictions.size(), Energy{kNaN, kNaN, 0});
  ARROW_ASSIGN_OR_RAISE(CommittedRun run, CommittedRun::Open(settings, store));
  std::vector<NodeId> nodes;
  ARROW_RETURN_NOT_OK(run.inputs.nodes->Find(*input.node_ids, &nodes));
  std::vector<std::int64_t> row_of(run.inputs.nodes->size(), -1);
  for (std::size_t row = 0; row < nodes.size(); ++row) {
    if (nodes[row] != kNoNode) row_of[nodes[row]] = static_cast<std::int64_t>(row);
  }
  ARROW_ASSIGN_OR_RAISE(const auto graphs,
                        run.Graphs(settings, store, {settings.graph.window}));
  EnergyMeter meter(input, std::move(row_of), vectors);
  context.progress->Begin("energy", "prediction times", input.data.num_predictions());
  ARROW_ASSIGN_OR_RAISE(auto energies,
                        meter.Measure(*graphs.front(), settings.graph.directed, context));
  context.progress->End(CountOf(input.data.num_predictions(), "prediction times"));
  return energies;
}

}  // namespace coden
