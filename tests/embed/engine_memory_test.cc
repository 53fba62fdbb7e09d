// An engine that is saved and put back into a new one goes on with the same bits: random
// batches on random graphs, left off after several of them.
//
// Seen to fail with each of these undone in engine_memory.cc: `left`, the bounds, the
// degrees, the symmetry, the precision of columns; and with the nodes saved in the order
// of their numbers.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <memory>
#include <numeric>
#include <random>

#include "coden/embed/embedding_engine.h"
#include "support/event_fed_graph.h"

namespace coden {
namespace {

constexpr int kColumns = 6;
constexpr int kBatches = 20;
constexpr NodeId kMostNodes = 70;

using Arrivals = std::shared_ptr<const std::vector<std::int32_t>>;

// A random order of arrival. The last nodes have none.
Arrivals ShuffledArrivals() {
  std::vector<std::int32_t> arrivals(kMostNodes);
  std::iota(arrivals.begin(), arrivals.end(), 0);
  std::shuffle(arrivals.begin(), arrivals.end(), std::mt19937(17));
  std::fill(arrivals.end() - 5, arrivals.end(), -1);
  return std::make_shared<const std::vector<std::int32_t>>(std::move(arrivals));
}

struct Scenario {
  bool directed;
  Propagation propagation;
  SolverChoice solver;
  double epsilon;
};

// What happens before an update.
struct Batch {
  NodeId num_nodes = 0;
  std::vector<EdgeEvent> events;
  std::vector<std::pair<NodeId, std::vector<float>>> features;
  bool audit = false;
};

std::vector<Batch> RandomBatches(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<Batch> batches(kBatches);
  NodeId num_nodes = kMostNodes / 2;
  for (int i = 0; i < kBatches; ++i) {
    Batch& batch = batches[i];
    const NodeId before = i == 0 ? 0 : num_nodes;
    if (i > 0) num_nodes = std::min<NodeId>(kMostNodes, num_nodes + random() % 4);
    batch.num_nodes = num_nodes;
    const auto node = [&] { return static_cast<NodeId>(random() % num_nodes); };
    // Mostly small changes, which are pushed; now and then none at all.
    const int toggles = i == 0 ? 150 : i % 6 == 5 ? 80 : static_cast<int>(random() % 5);
    for (int event = 0; event < toggles; ++event)
      batch.events.push_back({node(), node(), i, EventKind::kToggle});
    const auto set = [&](NodeId changed) {
      std::vector<float> vector(kColumns);
      // Columns of many scales: float32 holds some of them and not others.
      for (int column = 0; column < kColumns; ++column)
        vector[column] = normal(random) * static_cast<float>(std::pow(10.0, column - 2));
      batch.features.emplace_back(changed, std::move(vector));
    };
    for (NodeId arrived = before; arrived < num_nodes; ++arrived) set(arrived);
    for (int changes = static_cast<int>(random() % 3); changes > 0; --changes)
      set(node());
    batch.audit = random() % 5 == 0;
  }
  return batches;
}

// An engine with its graph, for the columns [first, first + num_columns).
class Replay {
 public:
  Replay(const Scenario& scenario, int first, int num_columns)
      : scenario_(scenario),
        first_(first),
        graph_({.events = EventMode::kToggle,
                .directed = scenario.directed,
                .self_loops = true}),
        engine_({.alpha = 0.2,
                 .epsilon = scenario.epsilon,
                 .propagation = scenario.propagation,
                 .columns = std::nullopt},
                num_columns, scenario.solver) {
    static const Arrivals arrivals = ShuffledArrivals();
    engine_.SetArrivals(arrivals);
  }

  // What `other` is, put together from what it gives away. The new engine has
  // `more_nodes` more, which nobody has seen.
  Replay(const Replay& other, int first, int num_columns, NodeId more_nodes)
      : Replay(other.scenario_, first, num_columns) {
    const NodeId num_nodes = other.engine_.num_nodes() + more_nodes;
    Grow(num_nodes);
    for (const EdgeChange edge : other.graph_.events().graph().Edges(scenario_.directed))
      EXPECT_TRUE(
          graph_.Apply({edge.src(), edge.dst(), /*time=*/0, EventKind::kToggle}).ok());
    graph_.Follow();
    graph_.Settle();
    for (NodeId node = 0; node < num_nodes; ++node) {
      if (node < static_cast<NodeId>(other.features_.size()))
        SetFeatures(node, other.features_[node]);
    }
    const int skipped = first - other.first_;
    EngineMemory memory = other.engine_.Memory();
    const auto cut = [&](auto& values) {
      values = {values.begin() + skipped, values.begin() + skipped + num_columns};
    };
    cut(memory.bounds);
    cut(memory.in_double);
    const std::vector<NodeId> connected = other.engine_.ConnectedNodes();
    engine_.Restore(graph_.graph(), connected, memory);
    constexpr std::int64_t kRows = 7;
    const auto num_rows = static_cast<std::int64_t>(connected.size());
    for (int column = 0; column < num_columns; ++column) {
      for (std::int64_t row = 0; row < num_rows; row += kRows) {
        std::vector<double> numbers(std::min(kRows, num_rows - row));
        other.engine_.CopyNumbers(column + skipped, row, numbers);
        engine_.RestoreNumbers(column, row, numbers);
      }
    }
  }

  void Apply(const Batch& batch) {
    Grow(batch.num_nodes);
    for (const EdgeEvent& event : batch.events) ASSERT_TRUE(graph_.Apply(event).ok());
    for (const auto& [node, vector] : batch.features) SetFeatures(node, vector);
    engine_.Update(graph_.Follow(), [] { return false; }, batch.num_nodes);
    graph_.Settle();
    if (batch.audit) engine_.Audit(graph_.graph());
  }

  // The bits of a column of the run, its bound first.
  std::vector<std::uint64_t> Bits(int column) const {
    std::vector<std::uint64_t> bits = {
        std::bit_cast<std::uint64_t>(engine_.ErrorBounds()[column - first_])};
    for (NodeId node = 0; node < static_cast<NodeId>(features_.size()); ++node)
      bits.push_back(std::bit_cast<std::uint64_t>(engine_.Value(node, column - first_)));
    return bits;
  }
  EmbeddingEngine& engine() { return engine_; }

 private:
  void Grow(NodeId num_nodes) {
    graph_.Grow(num_nodes);
    engine_.Grow(num_nodes);
  }
  void SetFeatures(NodeId node, const std::vector<float>& all) {
    if (all.empty()) return;
    if (node >= static_cast<NodeId>(features_.size())) features_.resize(node + 1);
    features_[node] = all;
    engine_.SetFeatures(node, std::span(all).subspan(first_, engine_.num_columns()));
  }

  Scenario scenario_;
  int first_;
  test::EventFedGraph graph_;
  EmbeddingEngine engine_;
  std::vector<std::vector<float>> features_;
};

class EngineMemoryTest : public ::testing::Test {
 protected:
  // Stop after `stop` batches and go on in engines of the columns [0, cut) and [cut, 6).
  void Check(const Scenario& scenario, unsigned seed, int stop, int cut,
             NodeId more_nodes) {
    const std::vector<Batch> batches = RandomBatches(seed);
    Replay whole(scenario, 0, kColumns);
    for (int i = 0; i < stop; ++i) whole.Apply(batches[i]);
    const bool budget_was_used = whole.engine().Memory().pushed > 0.0;
    const int in_double = whole.engine().num_double_columns();
    mixed_ += in_double > 0 && in_double < kColumns;
    std::deque<Replay> restored;
    if (cut > 0) restored.emplace_back(whole, 0, cut, more_nodes);
    restored.emplace_back(whole, cut, kColumns - cut, more_nodes);
    for (int i = stop - 1; i < kBatches; ++i) {
      if (i >= stop) whole.Apply(batches[i]);
      for (Replay& part : restored) {
        if (i >= stop) part.Apply(batches[i]);
      }
      for (int column = 0; column < kColumns; ++column) {
        ASSERT_EQ(restored[column < cut ? 0 : restored.size() - 1].Bits(column),
                  whole.Bits(column))
            << "column " << column << " after batch " << i << ", left off after " << stop
            << ", seed " << seed;
      }
    }
    pushed_ += scenario.solver == SolverChoice::kAutomatic && budget_was_used;
  }

  int mixed_ = 0;   // times that some columns were in float64 and some were not
  int pushed_ = 0;  // times that pushes of the engine's choice had used up budget
};

TEST_F(EngineMemoryTest, ARestoredEngineGoesOnWithTheSameBits) {
  unsigned seed = 0;
  for (const bool directed : {false, true}) {
    for (const Propagation propagation :
         {Propagation::kMass, Propagation::kAverage, Propagation::kSymmetric}) {
      if (directed && propagation != Propagation::kMass) continue;
      for (const SolverChoice solver :
           {SolverChoice::kAutomatic, SolverChoice::kSweeps, SolverChoice::kPush}) {
        for (const double epsilon : {0.3, 0.05, 1e-4, 1e-6, 1e-7, 1e-9}) {
          for (const int stop : {1, 4, 6, 11, 19}) {
            SCOPED_TRACE(testing::Message()
                         << "directed " << directed << ", propagation "
                         << static_cast<int>(propagation) << ", solver "
                         << static_cast<int>(solver) << ", epsilon " << epsilon);
            ++seed;
            Check({directed, propagation, solver, epsilon}, seed, stop,
                  static_cast<int>(seed % 3) * 2, static_cast<NodeId>(seed % 2) * 9);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(mixed_, 50);
  EXPECT_GT(pushed_, 10);
}

// Saving again what was just put back gives the same.
TEST_F(EngineMemoryTest, ARestoredEngineIsSavedAsItWas) {
  const std::vector<Batch> batches = RandomBatches(5);
  Replay whole({false, Propagation::kMass, SolverChoice::kPush, 1e-7}, 0, kColumns);
  for (int i = 0; i < 9; ++i) whole.Apply(batches[i]);
  EXPECT_GT(whole.engine().Memory().pushed, 0.0);
  Replay restored(whole, 0, kColumns, 0);
  const EngineMemory before = whole.engine().Memory(), after = restored.engine().Memory();
  EXPECT_EQ(after.pushed, before.pushed);
  EXPECT_EQ(after.bounds, before.bounds);
  EXPECT_EQ(after.in_double, before.in_double);
  EXPECT_EQ(restored.engine().ConnectedNodes(), whole.engine().ConnectedNodes());
  EXPECT_EQ(restored.engine().num_double_columns(), whole.engine().num_double_columns());
}

// Every update gives rows to the nodes that have an arc for the first time, by arrival.
TEST_F(EngineMemoryTest, NodesConnectInTheOrderInWhichTheyCame) {
  for (const bool directed : {false, true}) {
    SCOPED_TRACE(directed);
    test::EventFedGraph graph({.events = EventMode::kToggle, .directed = directed});
    EmbeddingEngine engine(EmbedOptions{}, /*num_columns=*/1);
    graph.Grow(9);
    engine.Grow(9);
    // Node 3 has no arrival, and the list ends before nodes 7 and 8.
    engine.SetArrivals(std::make_shared<const std::vector<std::int32_t>>(
        std::vector<std::int32_t>{5, 0, 4, -1, 1, 2, 3}));
    const auto update = [&](const std::vector<std::pair<NodeId, NodeId>>& toggles) {
      for (const auto& [src, dst] : toggles)
        ASSERT_TRUE(graph.Apply({src, dst, /*time=*/0, EventKind::kToggle}).ok());
      engine.Update(graph.Follow());
      graph.Settle();
    };
    // The edge of nodes 1 and 4 is removed again before the update.
    update({{0, 2}, {8, 6}, {3, 2}, {7, 0}, {1, 4}, {4, 1}, {4, 1}, {1, 4}});
    EXPECT_EQ(engine.ConnectedNodes(), (std::vector<NodeId>{6, 2, 0, 3, 7, 8}));
    update({{5, 6}, {1, 6}, {0, 2}});
    EXPECT_EQ(engine.ConnectedNodes(), (std::vector<NodeId>{6, 2, 0, 3, 7, 8, 1, 5}));
  }
}

// A node that has lost its last arc keeps its row, and so its place among the others.
TEST_F(EngineMemoryTest, NodesThatHadAnArcStayConnected) {
  Replay whole({false, Propagation::kMass, SolverChoice::kAutomatic, 1e-7}, 0, kColumns);
  Batch batch;
  batch.num_nodes = 4;
  for (NodeId node = 0; node < 4; ++node)
    batch.features.emplace_back(node, std::vector<float>(kColumns, 1.0f));
  batch.events = {{3, 1, 0, EventKind::kToggle}, {0, 1, 0, EventKind::kToggle}};
  whole.Apply(batch);
  const auto connected = whole.engine().ConnectedNodes();
  EXPECT_EQ(connected.size(), 3u);
  batch.features.clear();
  batch.events = {{3, 1, 0, EventKind::kToggle}};
  whole.Apply(batch);
  EXPECT_EQ(whole.engine().ConnectedNodes(), connected);
  Replay restored(whole, 0, kColumns, 0);
  EXPECT_EQ(restored.engine().ConnectedNodes(), connected);
}

}  // namespace
}  // namespace coden
