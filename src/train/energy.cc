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

#include "coden/embed/schedule_replay.h"
#include "coden/graph/event_graph.h"
#include "coden/graph/unobserved.h"
#include "coden/pipeline/committed_run.h"
#include "coden/report/printable.h"

namespace coden {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr NodeId kNodesPerTask = 1024;  // the sum's rounding follows from it

class EnergyMeter : public Operator {
 public:
  EnergyMeter(const Settings& settings, const TrainingInput& input,
              std::vector<std::int64_t> row_of, const VectorsAt& vectors)
      : input_(input),
        row_of_(std::move(row_of)),
        vectors_(vectors),
        replay_(input.snapshots),
        graph_(settings.graph),
        energies_(static_cast<std::size_t>(input.data.num_predictions()),
                  Energy{kNaN, kNaN, 0}) {
    graph_.Grow(static_cast<NodeId>(row_of_.size()));
  }

  std::vector<Energy> Take() { return std::move(energies_); }

  std::string_view name() const override { return "energy"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override { return input; }
  arrow::Status Push(BatchPtr batch, const Emit&) override {
    return replay_.Push(
        EventView(*batch),
        [this](const EdgeEvent& far, const EdgeEvent& near) {
          graph_.Prefetch(far, near);
        },
        [this](const EdgeEvent& event) -> arrow::Status {
          if (std::max(event.src, event.dst) >= static_cast<NodeId>(row_of_.size()))
            return InputChanged();
          return graph_.Apply(event, nobody_);
        },
        [this](const SchedulePoint& point) { return Measure(point); });
  }
  arrow::Status Finish(const Emit&) override {
    return replay_.Finish([this](const SchedulePoint& point) { return Measure(point); });
  }

 private:
  arrow::Status Measure(const SchedulePoint& point) {
    if (!point.at_prediction) return arrow::Status::OK();
    graph_.ExpireUntil(point.time, nobody_);
    const auto& predictions = input_.data.predictions;
    const auto found = std::find_if(
        predictions.begin(), predictions.end(),
        [&](const PredictionPoint& one) { return one.prediction == point.prediction; });
    if (found == predictions.end()) return arrow::Status::OK();
    const std::int64_t k = found - predictions.begin();
    ARROW_ASSIGN_OR_RAISE(const std::vector<float> rows, vectors_(k));
    if (rows.empty()) return arrow::Status::OK();
    const auto width = static_cast<std::int64_t>(rows.size()) / input_.data.num_nodes;
    energies_[k] = DirichletEnergy(graph_.graph(), row_of_, rows, width);
    return arrow::Status::OK();
  }

  const TrainingInput& input_;
  std::vector<std::int64_t> row_of_;
  const VectorsAt& vectors_;
  ScheduleReplay replay_;
  EventGraph graph_;
  Unobserved nobody_;
  std::vector<Energy> energies_;
};

}  // namespace

double Energy::relative() const { return squares > 0.0 ? energy / squares : kNaN; }

Energy DirichletEnergy(const DynamicGraph& graph, std::span<const std::int64_t> row_of,
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
  EnergyMeter meter(settings, input, std::move(row_of), vectors);
  std::int64_t num_events = 0;
  for (const LogSegment& segment : run.progress.log) num_events += segment.num_events;
  context.progress->Begin("energy", "rows", num_events);
  Operator* stages[] = {&meter};
  ARROW_RETURN_NOT_OK(run.Replay(settings, stages, context));
  context.progress->End(CountOf(input.data.num_predictions(), "prediction times"));
  return meter.Take();
}

}  // namespace coden
