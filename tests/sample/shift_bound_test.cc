// The three bounds against dense matrices. The true shift of the embeddings is computed
// by solving (I - (1-alpha) P) Z = alpha X with Gaussian elimination, before and after.

#include "coden/sample/shift_bound.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "coden/graph/event_graph.h"
#include "support/dense_ppr.h"

namespace coden {
namespace {

using test::ExactPpr;
using test::Matrix;
using test::Transitions;
using test::Zeros;

constexpr NodeId kNumNodes = 14;
constexpr int kNumColumns = 3;
constexpr double kAlpha = 0.2;
constexpr double kEpsilon = 1e-4;
constexpr double kFactor = (1.0 - kAlpha) / kAlpha;

// A random graph, its features and an accumulator that is told of every change, as
// LazySampler does it. All nodes are present from the start.
class Scene {
 public:
  Scene(ShiftBound bound, bool directed, bool self_loops, unsigned seed)
      : random_(seed), events_(Graph(directed, self_loops)) {
    SampleOptions sample;
    sample.bound = bound;
    EmbedOptions embed;
    embed.alpha = kAlpha;
    embed.epsilon = kEpsilon;
    shift_ = MakeShiftAccumulator(sample, embed, directed);
    events_.Grow(kNumNodes);
    x_ = Zeros(kNumNodes, kNumColumns);
    for (NodeId node = 0; node < kNumNodes; ++node) {
      // Some nodes have no features, one has many times what the others have.
      if (node % 4 != 0) Draw(node, node == 1 ? 20.0 : 1.0);
      shift_->SetLargestEntry(node, static_cast<float>(x_max(node)));
      shift_->SetPresent(node);
    }
  }

  void Toggle() {
    const auto src = static_cast<NodeId>(random_() % kNumNodes);
    Toggle(src, static_cast<NodeId>(random_() % kNumNodes));
  }
  void Toggle(NodeId src, NodeId dst) {
    ASSERT_TRUE(events_.Apply({src, dst, 0, EventKind::kToggle}, *shift_).ok());
    shift_->EndEvent(graph());
  }

  void ChangeFeatures() {
    const auto node = static_cast<NodeId>(random_() % kNumNodes);
    ChangeFeatures(node, static_cast<double>(random_() % 3));
  }
  void ChangeFeatures(NodeId node, double scale) {
    const double before = x_max(node);
    Draw(node, scale);
    const double after = x_max(node);
    shift_->SetLargestEntry(node, static_cast<float>(after));
    shift_->FeatureChange(node, static_cast<float>(before + after));
  }

  double x_max(NodeId node) const {
    double largest = 0.0;
    for (const double value : x_[node]) largest = std::max(largest, std::abs(value));
    return largest;
  }
  double Mass() const {
    double sum = 0.0;
    for (NodeId node = 0; node < kNumNodes; ++node) sum += x_max(node);
    return sum;
  }
  Matrix Embedding() const { return ExactPpr(graph(), x_, kAlpha); }
  const DynamicGraph& graph() const { return events_.graph(); }
  ShiftAccumulator& shift() { return *shift_; }

 private:
  static GraphOptions Graph(bool directed, bool self_loops) {
    GraphOptions options;
    options.events = EventMode::kToggle;
    options.directed = directed;
    options.self_loops = self_loops;
    return options;
  }
  // Multiples of 1/64 are exact as float and as double.
  void Draw(NodeId node, double scale) {
    for (double& value : x_[node]) {
      value = scale * (static_cast<double>(random_() % 129) - 64.0) / 64.0;
    }
  }

  std::mt19937 random_;
  EventGraph events_;
  std::unique_ptr<ShiftAccumulator> shift_;
  Matrix x_;
};

// ((1-alpha)/alpha) ||(P' - P) x_max||_1, summed column by column of P' - P: the two ends
// of an undirected edge are bounded one after the other.
double ColumnShift(const Scene& scene, const Matrix& before, const Matrix& after) {
  double sum = 0.0;
  for (NodeId u = 0; u < kNumNodes; ++u) {
    for (NodeId v = 0; v < kNumNodes; ++v) {
      sum += std::abs(after[v][u] - before[v][u]) * scene.x_max(u);
    }
  }
  return kFactor * sum;
}

void CheckClosedForm(ShiftBound bound, bool directed, bool self_loops) {
  SCOPED_TRACE(::testing::Message() << static_cast<int>(bound) << directed << self_loops);
  Scene scene(bound, directed, self_loops, /*seed=*/7);
  for (int event = 0; event < 500; ++event) {
    const Matrix before = Transitions(scene.graph());
    const double sigma = scene.shift().sigma();
    scene.Toggle();
    const double shift = ColumnShift(scene, before, Transitions(scene.graph()));
    const double expected = bound == ShiftBound::kRelative
                                ? shift / scene.Mass()
                                : shift + 2.0 * kNumNodes * kEpsilon;
    ASSERT_NEAR(scene.shift().sigma() - sigma, expected, 1e-9) << event;
  }
  scene.shift().Reset(scene.graph());
  EXPECT_EQ(scene.shift().sigma(), 0.0);
}

// How far the worst column moved from `then` to `now`, in the L1 norm.
double LargestShift(const Matrix& then, const Matrix& now) {
  double largest = 0.0;
  for (int column = 0; column < kNumColumns; ++column) {
    double sum = 0.0;
    for (int node = 0; node < kNumNodes; ++node) {
      sum += std::abs(now[node][column] - then[node][column]);
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

// Hundreds of events, a Reset now and then; the bound must hold after each. Returns the
// mean of sigma over the true relative shift, at the first event after each Reset.
double CheckTrueBound(bool directed, bool self_loops, bool feature_changes,
                      unsigned seed) {
  SCOPED_TRACE(::testing::Message()
               << directed << self_loops << feature_changes << " seed " << seed);
  Scene scene(ShiftBound::kStrict, directed, self_loops, seed);
  Matrix then = scene.Embedding();  // no Reset yet: the bound holds from the start
  std::mt19937 random(seed + 1);
  double looseness = 0.0;
  int measured = 0;
  bool fresh = false;
  for (int event = 0; event < 400; ++event) {
    if (feature_changes && random() % 5 == 0) scene.ChangeFeatures();
    scene.Toggle();
    const double shift = LargestShift(then, scene.Embedding()) / scene.Mass();
    const double sigma = scene.shift().sigma();
    EXPECT_GE(sigma, shift - 1e-12) << "event " << event;
    if (fresh && shift > 1e-9) {
      looseness += sigma / shift;
      ++measured;
    }
    fresh = random() % 8 == 0;
    if (fresh) {
      scene.shift().Reset(scene.graph());
      EXPECT_EQ(scene.shift().sigma(), 0.0);
      then = scene.Embedding();
    }
  }
  return looseness / std::max(measured, 1);
}

TEST(ShiftBound, RelativeAndPaperAreTheClosedForm) {
  for (const ShiftBound bound : {ShiftBound::kRelative, ShiftBound::kPaper}) {
    for (const bool directed : {false, true}) {
      for (const bool self_loops : {false, true})
        CheckClosedForm(bound, directed, self_loops);
    }
  }
}

TEST(ShiftBound, StrictIsATrueBound) {
  for (const bool directed : {false, true}) {
    double looseness = 0.0;
    for (unsigned seed = 1; seed <= 5; ++seed) {
      looseness += CheckTrueBound(directed, /*self_loops=*/false,
                                  /*feature_changes=*/false, seed) /
                   5.0;
      CheckTrueBound(directed, /*self_loops=*/true, /*feature_changes=*/false, seed);
      CheckTrueBound(directed, /*self_loops=*/false, /*feature_changes=*/true, seed);
      CheckTrueBound(directed, /*self_loops=*/true, /*feature_changes=*/true, seed);
    }
    RecordProperty(directed ? "looseness_directed" : "looseness_undirected",
                   std::to_string(looseness));
    EXPECT_LT(looseness, 20.0);
  }
}

TEST(ShiftBound, StrictFollowsFeaturesThatRise) {
  for (const bool directed : {false, true}) {
    SCOPED_TRACE(directed);
    Scene scene(ShiftBound::kStrict, directed, /*self_loops=*/false, /*seed=*/2);
    for (NodeId node = 1; node < kNumNodes; ++node) scene.Toggle(node - 1, node);
    scene.ChangeFeatures(5, 1e6);
    scene.shift().Reset(scene.graph());
    const Matrix then = scene.Embedding();
    scene.Toggle(5, 8);
    EXPECT_GE(scene.shift().sigma(),
              LargestShift(then, scene.Embedding()) / scene.Mass());
  }
}

TEST(ShiftBound, RelativeIsAnEstimateThatAHubEscapes) {
  // 1, 2, 3 -> 0 -> 1: all features are at 1, 2 and 3, and node 0 holds their mass.
  for (const ShiftBound bound : {ShiftBound::kRelative, ShiftBound::kStrict}) {
    GraphOptions options;
    options.directed = true;
    EventGraph events(options);
    SampleOptions sample;
    sample.bound = bound;
    const auto shift = MakeShiftAccumulator(sample, EmbedOptions{}, /*directed=*/true);
    events.Grow(4);
    for (NodeId node = 0; node < 4; ++node) {
      shift->SetLargestEntry(node, node == 0 ? 0.0f : 1.0f);
      shift->SetPresent(node);
    }
    for (NodeId node = 1; node < 4; ++node) {
      ASSERT_TRUE(events.Apply({node, 0, 0, EventKind::kInsert}, *shift).ok());
      shift->EndEvent(events.graph());
    }
    shift->Reset(events.graph());
    ASSERT_TRUE(events.Apply({0, 1, 0, EventKind::kInsert}, *shift).ok());
    shift->EndEvent(events.graph());
    EXPECT_EQ(shift->sigma() > 0.0, bound == ShiftBound::kStrict);
  }
}

}  // namespace
}  // namespace coden
