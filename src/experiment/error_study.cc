// True errors and true shifts, by the route that shares least with the engine: plain
// fixed-point iteration z <- alpha x + (1 - alpha) S z in float64 over all nodes and
// arcs, with no residues, no order of sweeps, no float32 and no proof. S is D^-1 A or
// D^-1/2 A D^-1/2 itself where the engine works with scaled features.
//
// For `mass` the L1 norm of a step shrinks by 1 - alpha, so what is left after a step of
// size s is at most s (1 - alpha) / alpha. The other kinds shrink in other norms, at the
// same rate. Iteration ends where that is a thousandth of the budget.

#include "experiment/error_study_internal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/base/runner.h"
#include "coden/graph/event_graph.h"
#include "coden/graph/unobserved.h"
#include "coden/read/event_batch.h"
#include "coden/sample/schedule_replay.h"
#include "coden/sample/shifted_graph.h"
#include "coden/snapshot/snapshot_rows.h"
#include "coden/state/run_inputs.h"
#include "coden/store/manifest.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "experiment/number_nodes_internal.h"

namespace coden {

namespace {

constexpr double kShareOfBudget = 1e-3;
// By then (1 - alpha)^steps is below what float64 can tell from zero.
constexpr double kStepsTimesAlpha = 40.0;

// Embeddings of a few columns on the graph of the moment, from scratch but for the start.
class PlainEmbeddings {
 public:
  PlainEmbeddings(const EmbedOptions& options, NodeId num_nodes, int num_columns)
      : options_(options),
        width_(static_cast<std::size_t>(num_columns)),
        coming_(static_cast<std::size_t>(num_nodes) * width_, 0.0),
        x_(coming_.size(), 0.0),
        z_(coming_.size(), 0.0) {}

  /// What the features of `node` are from its arrival on.
  void SetFeatures(NodeId node, std::span<const float> vector,
                   std::span<const int> columns) {
    for (std::size_t j = 0; j < width_; ++j)
      coming_[static_cast<std::size_t>(node) * width_ + j] = vector[columns[j]];
  }

  void Arrive(NodeId node) {
    const auto first =
        static_cast<std::ptrdiff_t>(static_cast<std::size_t>(node) * width_);
    std::copy_n(coming_.begin() + first, width_, x_.begin() + first);
  }

  void Solve(const DynamicGraph& graph, double budget) {
    const double decay = 1.0 - options_.alpha;
    std::vector<double> next(z_.size());
    const auto most_steps = static_cast<int>(kStepsTimesAlpha / options_.alpha) + 1;
    for (int step = 0; step < most_steps; ++step) {
      Multiply(graph, decay, &next);
      std::vector<double> moved(width_, 0.0);
      for (std::size_t i = 0; i < next.size(); ++i) {
        next[i] += options_.alpha * x_[i];
        moved[i % width_] += std::abs(next[i] - z_[i]);
      }
      std::swap(z_, next);
      const double most = *std::max_element(moved.begin(), moved.end());
      if (most * decay / options_.alpha <= kShareOfBudget * budget) return;
    }
  }

  const std::vector<double>& values() const { return z_; }
  std::size_t width() const { return width_; }

 private:
  // out = factor * S z
  void Multiply(const DynamicGraph& graph, double factor,
                std::vector<double>* out) const {
    std::fill(out->begin(), out->end(), 0.0);
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      const auto neighbours = graph.out_neighbours(u);
      const auto degree = static_cast<double>(neighbours.size());
      for (const NodeId v : neighbours) {
        // An entry of S, from u to v; the graph is undirected where it is not 1/d(u).
        double weight = factor / degree;
        if (options_.propagation == Propagation::kAverage)
          weight = factor / static_cast<double>(graph.out_degree(v));
        if (options_.propagation == Propagation::kSymmetric)
          weight = factor / std::sqrt(degree * static_cast<double>(graph.out_degree(v)));
        const double* from = &z_[static_cast<std::size_t>(u) * width_];
        double* to = &(*out)[static_cast<std::size_t>(v) * width_];
        for (std::size_t j = 0; j < width_; ++j) to[j] += weight * from[j];
      }
    }
  }

  EmbedOptions options_;
  std::size_t width_;
  std::vector<double> coming_;  // [nodes, columns], as x_ and z_
  std::vector<double> x_;
  std::vector<double> z_;
};

struct BoundKind {
  ShiftBound bound;
  const char* quantity;
};
constexpr std::array<BoundKind, 3> kBounds = {{{ShiftBound::kRelative, "sigma_relative"},
                                               {ShiftBound::kStrict, "sigma_strict"},
                                               {ShiftBound::kPaper, "sigma_paper"}}};

class ErrorStudy {
 public:
  ErrorStudy(const Settings& settings, const RunContext& context,
             std::vector<Measurement>* measurements)
      : settings_(settings),
        context_(context),
        measurements_(measurements),
        graph_(settings.graph) {}

  arrow::Status Run() {
    ARROW_ASSIGN_OR_RAISE(store_, RunStore::Open(settings_.run.directory));
    ARROW_ASSIGN_OR_RAISE(const auto manifest, LoadManifest(*store_));
    const FileRecord* file =
        manifest ? manifest->FindFile(RunLayout::kSchedule) : nullptr;
    if (file == nullptr)
      return arrow::Status::Invalid("there is no schedule in '", store_->Show(), "'");
    ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(*store_, *file));
    ARROW_ASSIGN_OR_RAISE(schedule_, ScheduleFromTable(*table));
    ARROW_ASSIGN_OR_RAISE(inputs_, RunInputs::Open(settings_));
    // Features are laid out by the numbers of the nodes.
    ARROW_RETURN_NOT_OK(NumberNodes(settings_, inputs_, context_));
    ARROW_RETURN_NOT_OK(Prepare());
    SnapshotReader reader(*store_);
    ScheduleReplay replay(schedule_);
    const auto take = [&](const SchedulePoint& point) { return Take(point, reader); };
    EventReader events(
        settings_.input.edges, settings_.graph.events, *inputs_.nodes,
        {.first_row = inputs_.log.num_before, .late = {settings_.input.late}});
    ARROW_ASSIGN_OR_RAISE(const auto source,
                          inputs_.log.Scan(settings_.input.batch_rows));
    Operator* stages[] = {&events};
    context_.progress->Begin("errors", "rows", inputs_.log.num_rows);
    ARROW_RETURN_NOT_OK(coden::Run(
        *source, stages,
        [&](const BatchPtr& batch) {
          return replay.Push(
              EventView(*batch), [](const EdgeEvent&) {},
              [&](const EdgeEvent& event) { return Apply(event); }, take);
        },
        context_));
    ARROW_RETURN_NOT_OK(replay.Finish(take));
    context_.progress->End(
        CountOf(static_cast<std::int64_t>(schedule_.size()), "snapshots"));
    return arrow::Status::OK();
  }

 private:
  arrow::Status Prepare() {
    const ColumnRange all = inputs_.columns;
    const int step = std::max(1, (all.size() + kStudiedColumns - 1) / kStudiedColumns);
    for (int column = 0; column < all.size(); column += step) columns_.push_back(column);
    features_ = columns_;
    for (int& column : features_) column += all.begin;
    const NodeId num_nodes = inputs_.nodes->size();
    plain_ = std::make_unique<PlainEmbeddings>(settings_.embed, num_nodes,
                                               static_cast<int>(columns_.size()));
    graph_.Grow(num_nodes);
    seen_.assign(num_nodes, false);
    largest_.assign(num_nodes, 0.0f);
    for (const BoundKind& kind : kBounds) {
      if (kind.bound == ShiftBound::kStrict &&
          settings_.embed.propagation != Propagation::kMass) {
        continue;
      }
      SampleOptions sample = settings_.sample;
      sample.bound = kind.bound;
      bounds_.push_back(
          {kind.quantity, ShiftedGraph::Make(sample, settings_.embed, settings_.graph)});
      bounds_.back().graph->Grow(num_nodes);
    }
    ARROW_ASSIGN_OR_RAISE(auto updates, inputs_.features.OpenUpdates(*inputs_.nodes));
    updates_ = std::make_unique<NodeFeatures::Updates>(std::move(updates));
    ARROW_RETURN_NOT_OK(inputs_.features.ForEach(
        *inputs_.nodes, [&](NodeId node, std::span<const float> vector) {
          plain_->SetFeatures(node, vector, features_);
        }));
    for (const NodeId node : inputs_.features.row_nodes()) See(node);
    before_ = plain_->values();
    return arrow::Status::OK();
  }

  void See(NodeId node) {
    if (seen_[node]) return;
    seen_[node] = true;
    plain_->Arrive(node);
    largest_[node] = inputs_.features.LargestEntry(node, *inputs_.nodes);
    for (const Bound& bound : bounds_) {
      bound.graph->SetLargestEntry(node, largest_[node]);
      bound.graph->SetPresent(node);
    }
  }

  arrow::Status Apply(const EdgeEvent& event) {
    if (std::max(event.src, event.dst) >= static_cast<NodeId>(seen_.size()))
      return InputChanged();
    if (!updates_->done()) ARROW_RETURN_NOT_OK(UpdateFeatures(event.time));
    See(event.src);
    See(event.dst);
    ARROW_RETURN_NOT_OK(graph_.Apply(event, nobody_));
    for (const Bound& bound : bounds_) ARROW_RETURN_NOT_OK(bound.graph->Apply(event));
    return arrow::Status::OK();
  }

  arrow::Status UpdateFeatures(EventTime time) {
    return updates_->AdvanceTo(
        time, *inputs_.nodes, [&](NodeId node, std::span<const float> vector) {
          See(node);
          float largest = 0.0f;
          for (const float value : vector) largest = std::max(largest, std::abs(value));
          for (const Bound& bound : bounds_) {
            bound.graph->SetLargestEntry(node, largest);
            bound.graph->FeatureChange(node, largest_[node] + largest);
          }
          largest_[node] = largest;
          plain_->SetFeatures(node, vector, features_);
          plain_->Arrive(node);
        });
  }

  void Add(const SchedulePoint& point, std::string quantity, double value) {
    measurements_->push_back(
        {std::move(quantity), value, -1, point.prediction, point.time, point.snapshot});
  }

  arrow::Status Take(const SchedulePoint& point, SnapshotReader& reader) {
    ARROW_RETURN_NOT_OK(context_.stop.Poll());
    ARROW_RETURN_NOT_OK(UpdateFeatures(point.time));
    if (point.at_prediction) {
      graph_.ExpireUntil(point.time, nobody_);
      for (const Bound& bound : bounds_) bound.graph->ExpireUntil(point.time);
    }
    const double budget = settings_.embed.epsilon * static_cast<double>(point.num_nodes);
    plain_->Solve(graph_.graph(), budget);
    ARROW_ASSIGN_OR_RAISE(const double error, TrueError(point, reader));
    Add(point, "true_error", error);
    Add(point, "proven_error",
        point.error_bound.value_or(NAN) * static_cast<double>(point.num_nodes));
    Add(point, "error_budget", budget);
    // The first snapshot has none before it.
    if (point.snapshot > 0) {
      const double shift = LargestDistance();
      Add(point, "true_shift", shift);
      Add(point, "relative_shift", shift / bounds_.front().graph->mass());
      for (const Bound& bound : bounds_) Add(point, bound.quantity, bound.graph->sigma());
    }
    for (const Bound& bound : bounds_) bound.graph->Reset();
    before_ = plain_->values();
    return arrow::Status::OK();
  }

  // max over columns of ||z - z before||_1
  double LargestDistance() const {
    const std::vector<double>& now = plain_->values();
    std::vector<double> sums(plain_->width(), 0.0);
    for (std::size_t i = 0; i < now.size(); ++i)
      sums[i % plain_->width()] += std::abs(now[i] - before_[i]);
    return *std::max_element(sums.begin(), sums.end());
  }

  arrow::Result<double> TrueError(const SchedulePoint& point, SnapshotReader& reader) {
    ARROW_ASSIGN_OR_RAISE(const SnapshotRows rows, reader.Read(point));
    std::vector<NodeId> nodes;
    ARROW_RETURN_NOT_OK(inputs_.nodes->Find(*rows.nodes(), &nodes));
    const std::vector<double>& z = plain_->values();
    std::vector<double> sums(columns_.size(), 0.0);
    for (std::int64_t row = 0; row < rows.num_rows(); ++row) {
      if (nodes[row] == kNoNode) return InputChanged();
      const auto h = rows.row(row);
      const double* exact = &z[static_cast<std::size_t>(nodes[row]) * columns_.size()];
      for (std::size_t j = 0; j < columns_.size(); ++j)
        sums[j] += std::abs(static_cast<double>(h[columns_[j]]) - exact[j]);
    }
    return *std::max_element(sums.begin(), sums.end());
  }

  struct Bound {
    const char* quantity;
    std::unique_ptr<ShiftedGraph> graph;
  };

  const Settings& settings_;
  const RunContext& context_;
  std::vector<Measurement>* measurements_;
  std::shared_ptr<RunStore> store_;
  Schedule schedule_;
  RunInputs inputs_;
  std::vector<int> columns_;   // of the snapshots
  std::vector<int> features_;  // the same, of the feature vectors
  EventGraph graph_;
  Unobserved nobody_;
  std::unique_ptr<PlainEmbeddings> plain_;
  std::unique_ptr<NodeFeatures::Updates> updates_;
  std::vector<Bound> bounds_;
  std::vector<bool> seen_;
  std::vector<float> largest_;
  std::vector<double> before_;
};

}  // namespace

arrow::Status StudyErrors(const Settings& settings, const RunContext& context,
                          std::vector<Measurement>* measurements) {
  return ErrorStudy(settings, context, measurements).Run();
}

}  // namespace coden
