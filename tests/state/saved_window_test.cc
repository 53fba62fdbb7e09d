#include "coden/state/saved_window.h"

#include <gtest/gtest.h>

#include <random>

#include "coden/graph/unobserved.h"
#include "coden/sample/shifted_graph.h"
#include "coden/store/parquet_file.h"
#include "support/parquet.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

constexpr std::string_view kName = "state/window.parquet";
constexpr NodeId kNodes = 30;
constexpr EventTime kWindow = 30;
constexpr EventTime kEnd = 140;  // the last event and the window are over by then

// A graph whose edges expire, and what is to be saved of it.
class Expiring {
 public:
  explicit Expiring(const GraphOptions& options) : graph_(options) {
    graph_.Grow(kNodes);
  }
  // The same as `other`, from its edges and what `store` has of its window.
  Expiring(const Expiring& other, const RunStore& store)
      : Expiring(other.graph_.options()) {
    for (const EdgeChange edge : other.Edges())
      graph_.RestoreEdge(edge.src(), edge.dst());
    for (const PendingExpiry& insertion :
         LoadWindow(store, kName, graph_.options().directed, kNodes).ValueOrDie()) {
      graph_.RestoreExpiry(insertion);
    }
  }

  // Toggle random edges, four at each time before `end`.
  void Run(unsigned seed, EventTime end) {
    std::mt19937 random(seed);
    for (EventTime time = 0; time < end; ++time) {
      for (int i = 0; i < 4; ++i) {
        Apply({static_cast<NodeId>(random() % kNodes),
               static_cast<NodeId>(random() % kNodes), time, EventKind::kToggle});
      }
    }
  }
  void Apply(const EdgeEvent& event) {
    Unobserved nobody;
    CODEN_EXPECT_OK(graph_.Apply(event, nobody));
  }
  void ExpireUntil(EventTime time) {
    Unobserved nobody;
    graph_.ExpireUntil(time, nobody);
  }

  std::vector<EdgeChange> Edges() const {
    return graph_.graph().Edges(graph_.options().directed);
  }
  const std::deque<PendingExpiry>& pending() const { return graph_.pending_expiries(); }

 private:
  EventGraph graph_;
};

std::vector<GraphOptions> Graphs() {
  std::vector<GraphOptions> graphs;
  for (const bool directed : {false, true}) {
    for (const bool self_loops : {false, true}) {
      graphs.push_back({.events = EventMode::kToggle,
                        .directed = directed,
                        .self_loops = self_loops,
                        .window = kWindow});
    }
  }
  return graphs;
}

void ExpectEqual(const Expiring& actual, const Expiring& expected) {
  EXPECT_EQ(actual.Edges(), expected.Edges());
  ASSERT_EQ(actual.pending().size(), expected.pending().size());
  for (std::size_t i = 0; i < actual.pending().size(); ++i) {
    EXPECT_EQ(actual.pending()[i].src, expected.pending()[i].src);
    EXPECT_EQ(actual.pending()[i].dst, expected.pending()[i].dst);
    EXPECT_EQ(actual.pending()[i].time, expected.pending()[i].time);
  }
}

class SavedWindowTest : public ::testing::Test {
 protected:
  void Save(const Expiring& graph) {
    const FileRecord file = StageWindow(*store_, kName, graph.pending()).ValueOrDie();
    EXPECT_EQ(file.path, kName);
    EXPECT_EQ(file.rows, static_cast<std::int64_t>(graph.pending().size()));
    CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
  }
  void Write(const std::string& src, const std::string& dst, const std::string& time,
             const std::string& first_column = "source") {
    const auto sources = ArrayOf(arrow::int32(), src);
    const auto batch = arrow::RecordBatch::Make(
        arrow::schema({arrow::field(first_column, arrow::int32(), false),
                       arrow::field("target", arrow::int32(), false),
                       arrow::field("time", arrow::int64(), false)}),
        sources->length(),
        {sources, ArrayOf(arrow::int32(), dst), ArrayOf(arrow::int64(), time)});
    const FileRecord file = StageParquetFile(*store_, kName, *batch).ValueOrDie();
    CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
  }
  arrow::Status Load(bool directed = false) const {
    return LoadWindow(*store_, kName, directed, kNodes).status();
  }
  void ExpectDamaged() const {
    const arrow::Status status = Load();
    EXPECT_EQ(FaultOf(status), Fault::kCorruption) << status.ToString();
    EXPECT_EQ(status.message(), "'" + store_->Show(kName) +
                                    "' is not the state of this run; rebuild it with "
                                    "--force");
  }

  TempDir folder_;
  std::shared_ptr<RunStore> store_ = StoreAt(folder_.path());
};

TEST_F(SavedWindowTest, IsReadBackAsItWas) {
  unsigned seed = 0;
  std::size_t most_pending = 0;
  for (const GraphOptions& options : Graphs()) {
    for (const EventTime end : {1, 50, 100}) {
      SCOPED_TRACE(::testing::Message()
                   << options.directed << options.self_loops << " until " << end);
      Expiring graph(options);
      graph.Run(++seed, end);
      most_pending = std::max(most_pending, graph.pending().size());
      Save(graph);
      ExpectEqual(Expiring(graph, *store_), graph);
    }
  }
  EXPECT_GT(most_pending, 50u);
}

// An edge that was inserted and deleted leaves its insertion among those that expire.
TEST_F(SavedWindowTest, AnEdgeThatWasDeletedDoesNotComeBackWhenItExpires) {
  unsigned seed = 20;
  for (const GraphOptions& options : Graphs()) {
    Expiring graph(options);
    graph.Run(++seed, 100);
    // Put in and taken out again just before the graph is saved.
    graph.Apply({1, 2, 100, EventKind::kInsert});
    graph.Apply({1, 2, 100, EventKind::kDelete});
    Save(graph);
    Expiring back(graph, *store_);
    for (EventTime time = 100; time < kEnd; ++time) {
      graph.ExpireUntil(time);
      back.ExpireUntil(time);
      ExpectEqual(back, graph);
    }
    EXPECT_TRUE(back.Edges().empty());
  }
}

// A graph that was put back when nothing was pending counts its insertions anew.
TEST_F(SavedWindowTest, OfAResumedRunHasTheSameBytes) {
  unsigned seed = 60;
  for (const GraphOptions& options : Graphs()) {
    for (const bool all_expired : {false, true}) {
      SCOPED_TRACE(all_expired);
      Expiring first(options);
      first.Run(++seed, 50);
      if (all_expired) first.ExpireUntil(1000);
      Save(first);
      Expiring resumed(first, *store_);
      for (Expiring* const graph : {&first, &resumed}) {
        for (NodeId node = 0; node < 8; ++node)
          graph->Apply({node, node + 1, 2000, EventKind::kToggle});
      }
      Save(first);
      const std::string of_first = store_->ReadText(kName).ValueOrDie();
      Save(resumed);
      EXPECT_EQ(store_->ReadText(kName).ValueOrDie(), of_first);
    }
  }
}

TEST_F(SavedWindowTest, TheSamplersGraphLetsTheSameEdgesExpire) {
  unsigned seed = 40;
  for (const GraphOptions& options : Graphs()) {
    for (const ShiftBound bound : {ShiftBound::kRelative, ShiftBound::kStrict}) {
      Expiring graph(options);
      graph.Run(++seed, 100);
      Save(graph);
      const auto shifted = ShiftedGraph::Make({.bound = bound}, {}, options);
      shifted->Grow(kNodes);
      for (NodeId node = 0; node < kNodes; ++node) shifted->SetLargestEntry(node, 1.0f);
      for (const EdgeChange edge : graph.Edges())
        shifted->RestoreEdge(edge.src(), edge.dst());
      for (const PendingExpiry& insertion :
           LoadWindow(*store_, kName, options.directed, kNodes).ValueOrDie()) {
        shifted->RestoreExpiry(insertion);
      }
      shifted->Restart({}, kNodes);
      EXPECT_EQ(shifted->Edges(), graph.Edges());
      for (EventTime time = 100; time < kEnd; ++time) {
        graph.ExpireUntil(time);
        shifted->ExpireUntil(time);
        EXPECT_EQ(shifted->Edges(), graph.Edges()) << time;
      }
      EXPECT_EQ(shifted->num_edges(), 0);
    }
  }
}

TEST_F(SavedWindowTest, NumbersThatDoNotFitTheRunAreCorruption) {
  Write("[1, 3, 29]", "[2, 3, 29]", "[0, 4, 4]");
  CODEN_EXPECT_OK(Load());
  for (const std::string node : {"[30]", "[-1]", "[2147483647]"}) {
    SCOPED_TRACE(node);
    Write(node, "[3]", "[1]");
    ExpectDamaged();
    Write("[3]", node, "[1]");
    ExpectDamaged();
  }
  Write("[1, 1]", "[2, 3]", "[5, 4]");
  ExpectDamaged();
  Write("[1]", "[2]", "[-1]");
  ExpectDamaged();
}

TEST_F(SavedWindowTest, AnUndirectedEdgeHasOneName) {
  Write("[3]", "[2]", "[1]");
  ExpectDamaged();
  CODEN_EXPECT_OK(Load(/*directed=*/true));
}

TEST_F(SavedWindowTest, AFileOfAnotherSchemaOrNoFileIsCorruption) {
  Write("[1]", "[2]", "[1]", /*first_column=*/"src");
  ExpectDamaged();
  CODEN_EXPECT_OK(store_->Remove(kName));
  EXPECT_EQ(FaultOf(Load()), Fault::kCorruption);
}

}  // namespace
}  // namespace coden
