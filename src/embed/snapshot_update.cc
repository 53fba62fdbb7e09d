#include "embed/snapshot_update_internal.h"

#include <cmath>

#include "coden/base/error.h"
#include "coden/base/printable.h"

namespace coden {

namespace {

// Two routes to one number differ by this much in their error weights.
constexpr double kAuditTolerance = 1e-5;

arrow::Status CheckBounds(const SchedulePoint& point, const SnapshotGraph& graph,
                          const EmbedOptions& options, EmbeddingEngine& engine) {
  const auto num_nodes = static_cast<double>(point.num_nodes);
  const double bound = engine.ErrorBound();
  if (!std::isfinite(bound)) {
    return InputError("the features are too large to be embedded: at snapshot ",
                      point.snapshot, " a sum of them is above what float64 can hold");
  }
  if (bound > options.epsilon * num_nodes) {
    return UsageError(
        "`embed.epsilon` is below what float64 can hold for these features: ",
        FormatShortest(options.epsilon), "; at snapshot ", point.snapshot,
        " the least is about ", FormatScientific(bound / num_nodes, 1));
  }
  if (options.audit == 0 || (point.snapshot + 1) % options.audit != 0)
    return arrow::Status::OK();
  if (engine.Audit(graph) > 1.0 + kAuditTolerance) {
    return CorruptionError(
        "the audit of snapshot ", point.snapshot,
        " found an error above the proven bound; the run is not to be "
        "trusted: check the machine's memory and report the case. Now: ",
        FormatScientific(engine.ErrorBound() / num_nodes, 1), " per node");
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<SolveWork> UpdateAt(const SchedulePoint& point, const SnapshotGraph& graph,
                                  const EmbedOptions& options,
                                  const arrow::StopToken& stop, EmbeddingEngine& engine) {
  const SolveWork work =
      engine.Update(graph, [&] { return stop.IsStopRequested(); }, point.num_nodes);
  ARROW_RETURN_NOT_OK(stop.Poll());
  ARROW_RETURN_NOT_OK(CheckBounds(point, graph, options, engine));
  return work;
}

}  // namespace coden
