// The engine against exact dense PPR, after 1, 20 and 200 batches of mixed inserts and
// deletes, for every event mode, direction and propagation kind: ||h - z||_1 <= n *
// epsilon per column.

#include "coden/embed/embedding_engine.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <bit>
#include <random>
#include <string>

#include "support/dense_ppr.h"
#include "support/event_fed_graph.h"

namespace coden {
namespace {

using test::ArcSet;
using test::EventFedGraph;
using test::ExactEmbedding;
using test::Matrix;
using test::PowerOf;

constexpr double kAlpha = 0.2;
// Small enough that an update which forgets 1e-8 per batch is seen, and far above the
// rounding of double arithmetic.
constexpr double kEpsilon = 1e-10;
constexpr int kNumNodes = 40;
constexpr int kEventsPerBatch = 12;

struct Case {
  EventMode events;
  bool directed;
  Propagation propagation;
  int num_columns;
};

// A graph kept twice: by the engine, and as a plain set of arcs.
class Twin {
 public:
  explicit Twin(const Case& setup, unsigned seed)
      : case_(setup),
        random_(seed),
        graph_({.events = setup.events, .directed = setup.directed}),
        engine_({.alpha = kAlpha,
                 .epsilon = kEpsilon,
                 .propagation = setup.propagation,
                 .columns = std::nullopt},
                setup.num_columns),
        features_(kNumNodes, std::vector<double>(setup.num_columns, 0.0)) {
    graph_.Grow(kNumNodes);
    engine_.Grow(kNumNodes);
    // A third of the nodes gets features later, as nodes that arrive do.
    for (NodeId node = 0; node < kNumNodes * 2 / 3; ++node) SetFeatures(node);
  }

  void SetFeatures(NodeId node) {
    std::normal_distribution<float> normal;
    std::vector<float> vector(case_.num_columns);
    for (int j = 0; j < case_.num_columns; ++j) {
      vector[j] = normal(random_);
      features_[node][j] = vector[j];
    }
    engine_.SetFeatures(node, vector);
  }

  void RunBatch(int batch) {
    for (int i = 0; i < kEventsPerBatch; ++i) ApplyRandomEvent();
    if (batch % 5 == 0) {
      SetFeatures(static_cast<NodeId>(random_() % kNumNodes));
    }
    engine_.Update(graph_.Follow());
    graph_.Settle();
  }

  void CheckBound() const {
    const Matrix exact =
        ExactEmbedding(arcs_, features_, kAlpha, PowerOf(case_.propagation));
    for (int column = 0; column < case_.num_columns; ++column) {
      double error = 0.0;
      for (NodeId node = 0; node < kNumNodes; ++node) {
        error += std::abs(engine_.Value(node, column) - exact[node][column]);
      }
      EXPECT_LE(error, kNumNodes * kEpsilon) << "column " << column;
    }
    EXPECT_LE(engine_.ErrorBound(), kNumNodes * kEpsilon);
  }

 private:
  void ApplyRandomEvent() {
    auto src = static_cast<NodeId>(random_() % kNumNodes);
    auto dst = static_cast<NodeId>(random_() % kNumNodes);
    if (src == dst) return;
    const bool present = arcs_.contains({src, dst});
    EventKind kind = EventKind::kToggle;
    if (case_.events == EventMode::kInsert) kind = EventKind::kInsert;
    if (case_.events == EventMode::kSigned) {
      kind = present ? EventKind::kDelete : EventKind::kInsert;
    }
    ASSERT_TRUE(graph_.Apply({src, dst, /*time=*/0, kind}).ok());
    const bool add = case_.events == EventMode::kInsert || !present;
    for (int direction = 0; direction < (case_.directed ? 1 : 2); ++direction) {
      if (add) {
        arcs_.insert({src, dst});
      } else {
        arcs_.erase({src, dst});
      }
      std::swap(src, dst);
    }
    // Move an edge at once now and then: the degree stays, the neighbourhood does not.
    if (case_.events != EventMode::kInsert && random_() % 3 == 0) MoveEdge();
  }

  void MoveEdge() {
    if (arcs_.empty()) return;
    auto arc = arcs_.begin();
    std::advance(arc, random_() % arcs_.size());
    const auto [src, old_dst] = *arc;
    const auto new_dst = static_cast<NodeId>(random_() % kNumNodes);
    if (new_dst == src || arcs_.contains({src, new_dst})) return;
    const bool toggle = case_.events == EventMode::kToggle;
    const EdgeEvent erase{src, old_dst, 0,
                          toggle ? EventKind::kToggle : EventKind::kDelete};
    const EdgeEvent insert{src, new_dst, 0,
                           toggle ? EventKind::kToggle : EventKind::kInsert};
    ASSERT_TRUE(graph_.Apply(erase).ok());
    ASSERT_TRUE(graph_.Apply(insert).ok());
    arcs_.erase({src, old_dst});
    arcs_.insert({src, new_dst});
    if (!case_.directed) {
      arcs_.erase({old_dst, src});
      arcs_.insert({new_dst, src});
    }
  }

  Case case_;
  std::mt19937 random_;
  EventFedGraph graph_;
  EmbeddingEngine engine_;
  ArcSet arcs_;
  Matrix features_;
};

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const EventMode events :
       {EventMode::kInsert, EventMode::kToggle, EventMode::kSigned}) {
    for (const bool directed : {false, true}) {
      for (const Propagation propagation :
           {Propagation::kMass, Propagation::kAverage, Propagation::kSymmetric}) {
        // `average` and `symmetric` are for undirected graphs; settings refuse the rest.
        if (directed && propagation != Propagation::kMass) continue;
        for (const int num_columns : {1, 5, 20}) {
          cases.push_back({events, directed, propagation, num_columns});
        }
      }
    }
  }
  return cases;
}

TEST(EmbeddingEngine, StaysWithinTheBound) {
  for (const Case& setup : AllCases()) {
    SCOPED_TRACE("events " + std::to_string(static_cast<int>(setup.events)) +
                 ", directed " + std::to_string(setup.directed) + ", propagation " +
                 std::to_string(static_cast<int>(setup.propagation)) + ", columns " +
                 std::to_string(setup.num_columns));
    Twin twin(setup, /*seed=*/7);
    for (int batch = 1; batch <= 200; ++batch) {
      twin.RunBatch(batch);
      if (batch == 1 || batch == 20 || batch == 200) {
        SCOPED_TRACE("after " + std::to_string(batch) + " batches");
        twin.CheckBound();
      }
    }
  }
}

constexpr int kAllColumns = 40;
constexpr NodeId kGraphNodes = 300;

struct Embedded {
  std::vector<std::uint64_t> values;  // the bits, column by column
  int num_double = 0;
  SolveWork work;
};

// Columns [begin, end) of a random graph with Gaussian features, after a start, large and
// small batches and changes of features. Every seventh column is too large for float32 to
// hold `epsilon`.
Embedded EmbedColumns(int begin, int end, double epsilon, bool directed) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  EmbeddingEngine engine({.alpha = kAlpha,
                          .epsilon = epsilon,
                          .propagation = Propagation::kMass,
                          .columns = std::nullopt},
                         end - begin);
  EventFedGraph graph({.events = EventMode::kToggle, .directed = directed});
  engine.Grow(kGraphNodes);
  graph.Grow(kGraphNodes);
  const auto set_features = [&](NodeId node) {
    std::vector<float> vector(kAllColumns);
    for (int column = 0; column < kAllColumns; ++column)
      vector[column] = normal(random) * (column % 7 == 6 ? 1000.0f : 1.0f);
    // A zero keeps its sign whatever the columns beside it do.
    if (node % 5 == 0) vector[3] = -0.0f;
    engine.SetFeatures(node, std::span(vector).subspan(begin, end - begin));
  };
  for (NodeId node = 0; node < kGraphNodes; ++node) set_features(node);
  Embedded embedded;
  for (const int toggles : {600, 300, 1, 1, 5, 1, 0, 2, 1}) {
    for (int i = 0; i < toggles; ++i) {
      const auto src = static_cast<NodeId>(random() % kGraphNodes);
      const auto dst = static_cast<NodeId>(random() % kGraphNodes);
      EXPECT_TRUE(graph.Apply({src, dst, 0, EventKind::kToggle}).ok());
    }
    if (toggles == 5) set_features(7);
    embedded.work.Add(engine.Update(graph.Follow()));
    graph.Settle();
    EXPECT_LE(engine.ErrorBound(), kGraphNodes * epsilon);
  }
  for (int column = 0; column < end - begin; ++column) {
    for (NodeId node = 0; node < kGraphNodes; ++node)
      embedded.values.push_back(std::bit_cast<std::uint64_t>(engine.Value(node, column)));
  }
  embedded.num_double = engine.num_double_columns();
  return embedded;
}

// A small epsilon takes sweeps and float64, a large one pushes.
constexpr double kEpsilons[] = {1e-7, 0.02};

TEST(EmbeddingEngine, ColumnsDoNotDependOnTheirBlock) {
  for (const bool directed : {false, true}) {
    for (const double epsilon : kEpsilons) {
      const Embedded all = EmbedColumns(0, kAllColumns, epsilon, directed);
      for (const auto& [begin, end] :
           {std::pair{0, 1}, {3, 4}, {0, 16}, {5, 22}, {33, 40}}) {
        SCOPED_TRACE(std::to_string(begin) + ":" + std::to_string(end));
        const std::vector<std::uint64_t> slice(all.values.begin() + begin * kGraphNodes,
                                               all.values.begin() + end * kGraphNodes);
        EXPECT_EQ(EmbedColumns(begin, end, epsilon, directed).values, slice);
      }
    }
  }
}

TEST(EmbeddingEngine, ThreadsDoNotChangeTheResult) {
  for (const double epsilon : kEpsilons) {
    std::vector<std::vector<std::uint64_t>> results;
    for (const std::size_t threads : {1, 2, 4, 8}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                      threads);
      tbb::task_arena arena(static_cast<int>(threads));
      arena.execute([&] {
        results.push_back(EmbedColumns(0, kAllColumns, epsilon, false).values);
      });
    }
    for (const auto& result : results) EXPECT_EQ(results[0], result);
  }
}

TEST(EmbeddingEngine, TakesTheSolverThatTheChangeNeeds) {
  const Embedded tight = EmbedColumns(0, kAllColumns, 1e-7, false);
  EXPECT_GT(tight.work.sweeps, 0);
  const Embedded loose = EmbedColumns(0, kAllColumns, 0.02, false);
  EXPECT_GT(loose.work.pushes, 0);
}

TEST(EmbeddingEngine, ColumnsThatFloatCannotHoldAreKeptInDouble) {
  EXPECT_EQ(EmbedColumns(0, 6, 1e-7, false).num_double, 0);
  EXPECT_EQ(EmbedColumns(0, kAllColumns, 1e-7, false).num_double, kAllColumns / 7);
  EXPECT_EQ(EmbedColumns(0, 3, 1e-10, false).num_double, 3);
}

TEST(EmbeddingEngine, AuditFindsAWrongBound) {
  EmbeddingEngine engine(EmbedOptions{}, /*num_columns=*/1);
  EventFedGraph graph({});
  engine.Grow(3);
  graph.Grow(3);
  const float one[] = {1.0f};
  for (NodeId node = 0; node < 3; ++node) engine.SetFeatures(node, one);
  ASSERT_TRUE(graph.Apply({0, 1, 0, EventKind::kInsert}).ok());
  ASSERT_TRUE(graph.Apply({1, 2, 0, EventKind::kInsert}).ok());
  engine.Update(graph.Follow());
  graph.Settle();
  EXPECT_LE(engine.Audit(graph.graph()), 1.0);
  // A change that the engine is not told of.
  ASSERT_TRUE(graph.Apply({0, 2, 0, EventKind::kInsert}).ok());
  EXPECT_GT(engine.Audit(graph.Follow()), 1e3);
}

}  // namespace
}  // namespace coden
