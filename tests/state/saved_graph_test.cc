#include "coden/state/saved_graph.h"

#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "state/embedder_run.h"
#include "support/dense_ppr.h"
#include "support/parquet.h"
#include "support/run_store.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

using test::EmbedderRun;

class SavedGraphTest : public ::testing::Test {
 protected:
  // Save and put the files in their places. Returns their names.
  std::vector<std::string> Save(const Embedder& embedder) {
    std::vector<std::string> names;
    const auto files = StageGraph(*store_, embedder);
    EXPECT_TRUE(files.ok()) << files.status().ToString();
    for (const FileRecord& file : *files) {
      CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
      names.push_back(file.path);
    }
    return names;
  }

  static void ExpectEqual(const Embedder& actual, const Embedder& expected) {
    EXPECT_EQ(test::ArcsOf(actual.graph().graph()),
              test::ArcsOf(expected.graph().graph()));
    EXPECT_EQ(actual.graph().num_edges(), expected.graph().num_edges());
    EXPECT_EQ(actual.present(), expected.present());
    const auto& a = actual.graph().pending_expiries();
    const auto& b = expected.graph().pending_expiries();
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].src, b[i].src);
      EXPECT_EQ(a[i].dst, b[i].dst);
      EXPECT_EQ(a[i].time, b[i].time);
    }
  }

  void ExpectDamaged(EmbedderRun& run, std::string_view name) {
    const auto embedder = run.MakeAll();
    const arrow::Status status = LoadGraph(*store_, *embedder);
    EXPECT_EQ(FaultOf(status), Fault::kCorruption) << status.ToString();
    EXPECT_EQ(status.message(), "'" + store_->Show(name) +
                                    "' is not the state of this run; rebuild it with "
                                    "--force");
  }

  TempDir folder_;
  std::shared_ptr<RunStore> store_ = StoreAt(folder_.path());
};

TEST_F(SavedGraphTest, IsReadBackAsItWas) {
  unsigned seed = 0;
  std::size_t most_pending = 0;
  for (const GraphOptions& graph : test::AllGraphs()) {
    SCOPED_TRACE(::testing::Message()
                 << graph.directed << graph.self_loops << " window " << graph.window);
    EmbedderRun run(graph, 1e-5, 2, ++seed);
    const auto num_snapshots = static_cast<int>(run.schedule().size());
    for (const int stop : {1, num_snapshots / 2, num_snapshots}) {
      const auto embedder = run.MakeAll();
      run.Push(*embedder, 0, stop);
      const auto names = Save(*embedder);
      EXPECT_EQ(names.size(), graph.window > 0 ? 2u : 1u);
      EXPECT_GT(embedder->graph().num_edges(), 10);
      most_pending = std::max(most_pending, embedder->graph().pending_expiries().size());
      const auto back = run.MakeAll();
      CODEN_EXPECT_OK(LoadGraph(*store_, *back));
      ExpectEqual(*back, *embedder);
      for (const std::string& name : names) CODEN_EXPECT_OK(store_->Remove(name));
    }
  }
  EXPECT_GT(most_pending, 20u);
}

// An edge that was inserted and deleted leaves its insertion among those that expire.
TEST_F(SavedGraphTest, AnEdgeThatWasDeletedDoesNotComeBackWhenItExpires) {
  unsigned seed = 20;
  for (const GraphOptions& graph : test::AllGraphs()) {
    if (graph.window == 0) continue;
    EmbedderRun run(graph, 1e-5, 2, ++seed);
    const int stop = static_cast<int>(run.schedule().size()) / 2;
    const auto embedder = run.MakeAll();
    run.Push(*embedder, 0, stop);
    Save(*embedder);
    const auto back = run.MakeAll();
    CODEN_EXPECT_OK(LoadGraph(*store_, *back));
    NeighbourhoodChanges changes;
    for (EventTime time = run.schedule()[stop - 1].time; time < 140; ++time) {
      embedder->graph().ExpireUntil(time, changes);
      back->graph().ExpireUntil(time, changes);
      ExpectEqual(*back, *embedder);
    }
    EXPECT_EQ(back->graph().num_edges(), 0);
  }
}

// A graph that was put back, when nothing was pending, counts its insertions anew.
TEST_F(SavedGraphTest, TheWindowOfAResumedRunHasTheSameBytes) {
  unsigned seed = 60;
  for (const GraphOptions& graph : test::AllGraphs()) {
    if (graph.window == 0) continue;
    EmbedderRun run(graph, 1e-5, 2, ++seed);
    const auto num_snapshots = static_cast<int>(run.schedule().size());
    for (const bool all_expired : {false, true}) {
      SCOPED_TRACE(all_expired);
      const auto first = run.MakeAll();
      run.Push(*first, 0, num_snapshots / 2);
      NeighbourhoodChanges changes;
      if (all_expired) first->graph().ExpireUntil(1000, changes);
      Save(*first);
      const auto resumed = run.MakeAll();
      CODEN_EXPECT_OK(LoadGraph(*store_, *resumed));
      for (Embedder* embedder : {first.get(), resumed.get()}) {
        for (NodeId node = 0; node < 8; ++node) {
          CODEN_EXPECT_OK(embedder->graph().Apply(
              {node, node + 1, 2000, EventKind::kToggle}, changes));
        }
      }
      Save(*first);
      const std::string of_first = store_->ReadText(RunLayout::kWindow).ValueOrDie();
      Save(*resumed);
      EXPECT_EQ(store_->ReadText(RunLayout::kWindow).ValueOrDie(), of_first);
    }
  }
}

TEST_F(SavedGraphTest, AnUndirectedEdgeIsWrittenOnce) {
  for (const bool directed : {false, true}) {
    EmbedderRun run({.events = EventMode::kToggle, .directed = directed}, 1e-5, 2, 3);
    const auto embedder = run.MakeAll();
    run.Push(*embedder, 0, 1);
    Save(*embedder);
    const auto table = ReadParquetFile(*store_, RunLayout::kGraph).ValueOrDie();
    const auto lists = table->CombineChunksToBatch().ValueOrDie()->column(0);
    EXPECT_EQ(static_cast<const arrow::ListArray&>(*lists).values()->length(),
              embedder->graph().num_edges());
  }
}

TEST_F(SavedGraphTest, TheSamplersGraphIsTheSame) {
  unsigned seed = 40;
  for (const GraphOptions& graph : test::AllGraphs()) {
    for (const ShiftBound bound : {ShiftBound::kRelative, ShiftBound::kStrict}) {
      EmbedderRun run(graph, 1e-5, 2, ++seed);
      const auto embedder = run.MakeAll();
      run.Push(*embedder, 0, static_cast<int>(run.schedule().size()));
      const auto names = Save(*embedder);
      const auto shifted = ShiftedGraph::Make({.bound = bound}, {}, graph);
      for (NodeId node = 0; node < run.nodes().size(); ++node)
        shifted->SetLargestEntry(node, 1.0f);
      CODEN_EXPECT_OK(LoadGraph(*store_, run.nodes().size(), *shifted));
      EXPECT_EQ(shifted->num_edges(), embedder->graph().num_edges());
      // What is left expires in both, at the same times.
      for (EventTime time = run.schedule().back().time; time < 140; ++time) {
        NeighbourhoodChanges changes;
        embedder->graph().ExpireUntil(time, changes);
        shifted->ExpireUntil(time);
        EXPECT_EQ(shifted->num_edges(), embedder->graph().num_edges()) << time;
      }
      EXPECT_EQ(shifted->num_edges() == 0, graph.window > 0);
      for (const std::string& name : names) CODEN_EXPECT_OK(store_->Remove(name));
    }
  }
}

TEST_F(SavedGraphTest, NodesBeyondTheRunAreCorruption) {
  EmbedderRun run({}, 1e-5, 2, 5);
  const auto element = arrow::field("element", arrow::int32(), false);
  const auto write = [&](const std::string& lists, int rows) {
    const auto schema =
        arrow::schema({arrow::field("neighbours", arrow::list(element), false),
                       arrow::field("present", arrow::boolean(), false)});
    arrow::BooleanBuilder present;
    for (int row = 0; row < rows; ++row) EXPECT_TRUE(present.Append(true).ok());
    const auto batch = arrow::RecordBatch::Make(
        schema, rows,
        {ArrayOf(arrow::list(element), lists), present.Finish().ValueOrDie()});
    const FileRecord file =
        StageParquetFile(*store_, RunLayout::kGraph, *batch).ValueOrDie();
    CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
  };
  write("[[1, 2], [2]]", 2);
  CODEN_EXPECT_OK(LoadGraph(*store_, *run.MakeAll()));
  for (const std::string lists : {"[[30]]", "[[-1]]", "[[2, 1]]", "[[2, 2]]"}) {
    SCOPED_TRACE(lists);
    write(lists, 1);
    ExpectDamaged(run, RunLayout::kGraph);
  }
  std::string many = "[[]";
  for (int row = 1; row < 31; ++row) many += ", []";
  write(many + "]", 31);
  ExpectDamaged(run, RunLayout::kGraph);
}

TEST_F(SavedGraphTest, ExpiriesOfUnknownNodesAreCorruption) {
  const GraphOptions graph{.events = EventMode::kToggle, .window = 5};
  EmbedderRun run(graph, 1e-5, 2, 6);
  const auto embedder = run.MakeAll();
  run.Push(*embedder, 0, 1);
  Save(*embedder);
  for (const std::string src : {"[30]", "[-1]"}) {
    const auto schema = arrow::schema({arrow::field("src", arrow::int32(), false),
                                       arrow::field("dst", arrow::int32(), false),
                                       arrow::field("time", arrow::int64(), false)});
    const auto batch = arrow::RecordBatch::Make(
        schema, 1,
        {ArrayOf(arrow::int32(), src), ArrayOf(arrow::int32(), "[3]"),
         ArrayOf(arrow::int64(), "[1]")});
    const FileRecord file =
        StageParquetFile(*store_, RunLayout::kWindow, *batch).ValueOrDie();
    CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
    ExpectDamaged(run, RunLayout::kWindow);
  }
}

}  // namespace
}  // namespace coden
