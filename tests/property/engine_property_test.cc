// After every batch of a random log: h + alpha (I - (1-alpha) P)^-1 r = z, and h is
// within the bound that the engine claims, which is within n * epsilon.
//
// The engine does not keep r, only a bound on it, so r is taken from its h and a graph
// that the test keeps for itself. What the engine claims of r is checked against it.

#include "property/engine_replay.h"

namespace coden::property {
namespace {

void CheckColumns(const EngineReplay& replay, bool attainable, double epsilon) {
  const ExactSolver solver = replay.Solver();
  const Column weights = solver.Weights();
  const std::vector<double> bounds = replay.engine().ErrorBounds();
  for (int column = 0; column < replay.num_columns(); ++column) {
    const Column x = replay.Features(column);
    const Column h = replay.Embedding(column);
    const Column z = solver.Embed(x);
    const Column r = solver.Residue(x, h);
    const Column left = solver.Embed(r);
    const Real bound = bounds[column];
    const Real rounding = 8 * replay.RoundingOf(column);
    Real broken = 0, error = 0, residue = 0;
    for (NodeId node = 0; node < replay.num_nodes(); ++node) {
      broken += std::abs(h[node] + left[node] - z[node]);
      error += std::abs(h[node] - z[node]);
      residue += weights[node] * std::abs(r[node]);
    }
    RC_LOG() << "column " << column << ": error " << error << ", residue " << residue
             << ", bound " << bound << " + " << rounding << ", n epsilon "
             << replay.num_nodes() * epsilon << "\n";
    RC_ASSERT(broken <= rounding * 0x1p-8L);
    RC_ASSERT(error <= bound + rounding);
    RC_ASSERT(residue <= bound * (1 + 1e-6L) + rounding);
    if (attainable) RC_ASSERT(bound <= replay.num_nodes() * epsilon);
  }
}

void TallyWork(const SolveWork& work, Tally& tally) {
  tally.Add("batches");
  const bool pushed = work.pushes > 0;
  const bool swept = work.sweeps + work.proving_sweeps > 0;
  tally.Add(pushed && swept ? "batches pushed and swept"
            : pushed        ? "batches pushed"
            : swept         ? "batches swept"
                            : "batches without work");
}

void TallyCase(const Case& setup, const EngineReplay& replay, Tally& tally) {
  const char* const kinds[] = {"mass", "average", "symmetric"};
  const char* const events[] = {"insert", "toggle", "signed"};
  tally.Add(std::string("cases with propagation ") +
            kinds[static_cast<int>(setup.embed.propagation)]);
  tally.Add(std::string("cases with events ") +
            events[static_cast<int>(setup.graph.events)]);
  tally.Add(setup.graph.directed ? "cases directed" : "cases undirected");
  if (setup.graph.window > 0) tally.Add("cases with a window");
  if (setup.graph.self_loops) tally.Add("cases with self loops");
  const int doubles = replay.engine().num_double_columns();
  tally.Add("columns in float64 at the end", doubles);
  tally.Add("columns in float32 at the end", setup.num_columns - doubles);
}

void CheckLog(const Case& setup, Tally& tally) {
  const Threads threads(setup.threads);
  const Log log = Resolve(setup);
  EngineReplay replay(setup, log);
  for (const Batch& batch : log.batches) {
    TallyWork(replay.Run(batch), tally);
    RC_ASSERT(test::ArcsOf(replay.graph()) == replay.model().Arcs());
    const bool attainable = replay.EpsilonIsAttainable();
    if (!attainable) tally.Add("batches whose epsilon float64 cannot hold");
    CheckColumns(replay, attainable, setup.embed.epsilon);
  }
  // The audit finds no bound wrong by more than rounding.
  const std::vector<double> claimed = replay.engine().ErrorBounds();
  replay.engine().Audit(replay.graph());
  const std::vector<double> audited = replay.engine().ErrorBounds();
  for (int column = 0; column < setup.num_columns; ++column) {
    RC_ASSERT(audited[column] <=
              claimed[column] * (1 + 1e-6L) + 64 * replay.RoundingOf(column));
  }
  CheckColumns(replay, false, setup.embed.epsilon);
  TallyCase(setup, replay, tally);
}

TEST(EngineProperty, InvariantAndBoundHoldAfterEveryBatch) {
  const Tally tally =
      CheckProperty({1000}, [](Tally& counts) { CheckLog(*AnyCase(), counts); });
  if (HasFailure()) return;
  for (const char* what :
       {"batches pushed", "batches swept", "batches pushed and swept",
        "batches without work", "cases with propagation mass",
        "cases with propagation average", "cases with propagation symmetric",
        "cases with a window", "columns in float64 at the end",
        "columns in float32 at the end"}) {
    EXPECT_GT(tally[what], 0) << what;
  }
}

// Where epsilon is below what float64 can hold, the engine claims no more than is true.
TEST(EngineProperty, NoClaimIsFalseAtTheLimitsOfFloat64) {
  CheckProperty({300, /*share=*/4}, [](Tally& counts) {
    CheckLog(*AnyCase({.windows = true, .extremes = true}), counts);
  });
}

}  // namespace
}  // namespace coden::property
