#include "coden/state/history.h"

#include "state/history_fixture.h"

namespace coden {
namespace {

using test::EdgesOf;
using test::HistoryTest;
using test::IsGraph;
using test::kFolder;
using test::RandomGraph;

TEST_F(HistoryTest, ManySnapshotsShareAFile) {
  for (const bool directed : {false, true}) {
    SCOPED_TRACE(directed);
    files_.clear();
    edges_.clear();
    RandomGraph graph(30, directed, 1);
    Write(graph, 12, 40);
    ASSERT_EQ(files_.size(), 1u);
    EXPECT_EQ(files_[0].path, "state/history/changes-000000.parquet");
    EXPECT_EQ(Open(30).num_changes(), files_[0].rows);
    EXPECT_GT(files_[0].rows, 12 * 30);
    ExpectEverySnapshot(30, directed);
  }
}

TEST_F(HistoryTest, ASnapshotWithoutChangesHasNoRow) {
  RandomGraph graph(30, /*directed=*/false, 2);
  Write(graph, 2, 0);
  EXPECT_EQ(Open(30).num_changes(), 0);
  Write(graph, 1, 40);
  Write(graph, 2, 0);
  ExpectEverySnapshot(30, /*directed=*/false);
}

TEST_F(HistoryTest, FilesThatAreAppendedGoOn) {
  RandomGraph graph(30, /*directed=*/true, 3);
  for (const int num_snapshots : {4, 1, 6}) Write(graph, num_snapshots, 50);
  ASSERT_EQ(files_.size(), 3u);
  EXPECT_EQ(files_[1].path, "state/history/changes-000004.parquet");
  EXPECT_EQ(files_[2].path, "state/history/changes-000005.parquet");
  // Files of other histories and of other parts of the run lie among them.
  files_.insert(files_.begin(),
                {"state/history/window-30/changes-000002.parquet", 1, 1, ""});
  files_.push_back({"state/nodes.parquet", 1, 1, ""});
  ExpectEverySnapshot(30, /*directed=*/true);
}

// Edges come and go, so that changes grow long against the graph.
TEST_F(HistoryTest, WholeGraphsAreWrittenAndOpeningInTheMiddleGivesTheSame) {
  constexpr NodeId kNodes = 220;
  for (const bool directed : {false, true}) {
    SCOPED_TRACE(directed);
    files_.clear();
    edges_.clear();
    RandomGraph graph(kNodes, directed, 4);
    Write(graph, 14, 10'000);
    Write(graph, 14, 10'000);
    const auto num_graphs = std::count_if(files_.begin(), files_.end(), IsGraph);
    EXPECT_GE(num_graphs, 2);
    ExpectEverySnapshot(kNodes, directed);
    // The changes alone tell everything.
    std::erase_if(files_, IsGraph);
    ExpectEverySnapshot(kNodes, directed);
  }
}

TEST_F(HistoryTest, AWholeGraphIsWrittenWhenChangesAreLongAgainstTheGraph) {
  RandomGraph graph(1000, /*directed=*/true, 5);
  const auto writer = HistoryWriter::Make(*store_, kFolder).ValueOrDie();
  const auto first = graph.Toggle(60'000);
  const auto first_size = static_cast<std::int64_t>(first.size());
  CODEN_EXPECT_OK(writer->Write(0, first));
  EXPECT_FALSE(writer->WantsGraph(0));  // few changes are read in no time
  const auto second = graph.Toggle(60'000);
  const auto size = first_size + static_cast<std::int64_t>(second.size());
  CODEN_EXPECT_OK(writer->Write(1, second));
  EXPECT_TRUE(writer->WantsGraph(size / 2 - 1));
  EXPECT_FALSE(writer->WantsGraph(size / 2 + 1));
  CODEN_EXPECT_OK(writer->WriteGraph(graph.Edges()));
  EXPECT_FALSE(writer->WantsGraph(0));
  CODEN_EXPECT_OK(writer->Write(2, graph.Toggle(60'000)));
  EXPECT_FALSE(writer->WantsGraph(0));
  Place(writer->Close().ValueOrDie());
  ASSERT_EQ(files_.size(), 3u);
  EXPECT_EQ(files_[1].path, "state/history/graph-000001.parquet");
  EXPECT_EQ(files_[2].path, "state/history/changes-000002.parquet");
  // A writer that goes on counts the changes after the last whole graph.
  const auto next = HistoryWriter::Make(*store_, kFolder, files_).ValueOrDie();
  EXPECT_FALSE(next->WantsGraph(0));
  CODEN_EXPECT_OK(next->Write(3, graph.Toggle(10'000)));
  EXPECT_TRUE(next->WantsGraph(0));
}

TEST_F(HistoryTest, OpeningBehindAWholeGraphReadsNothingBeforeIt) {
  RandomGraph graph(300, /*directed=*/true, 6);
  const auto writer = HistoryWriter::Make(*store_, kFolder).ValueOrDie();
  for (int snapshot = 0; snapshot < 6; ++snapshot) {
    CODEN_EXPECT_OK(writer->Write(snapshot, graph.Toggle(500)));
    edges_.push_back(graph.Edges());
    if (snapshot == 2) CODEN_EXPECT_OK(writer->WriteGraph(edges_.back()));
  }
  Place(writer->Close().ValueOrDie());
  ExpectEverySnapshot(300, /*directed=*/true);
  CODEN_EXPECT_OK(store_->Remove(RunLayout::HistoryChanges(kFolder, 0)));
  for (int done = 0; done <= 6; ++done) {
    SCOPED_TRACE(done);
    History history = Open(300);
    SnapshotGraph opened(/*directed=*/true);
    const arrow::Status status = history.Load(done, opened);
    if (done == 1 || done == 2) {
      ExpectDamaged(status);
      continue;
    }
    CODEN_EXPECT_OK(status);
    const auto expected = done == 0 ? std::vector<EdgeChange>() : edges_[done - 1];
    EXPECT_TRUE(EdgesOf(opened) == expected);
  }
}

// More rows than one batch, and than one row group, holds.
TEST_F(HistoryTest, ASnapshotMayHaveMoreRowsThanARowGroup) {
  constexpr NodeId kNodes = 900;
  RandomGraph graph(kNodes, /*directed=*/true, 7);
  Write(graph, 2, 500'000);
  EXPECT_GT(files_[0].rows, 2 * (1 << 18));
  ExpectEverySnapshot(kNodes, /*directed=*/true);
}

// The graph of the first pass goes on from these edges.
TEST_F(HistoryTest, EdgesAreThoseOfTheLastSnapshot) {
  RandomGraph graph(40, /*directed=*/false, 8);
  Write(graph, 5, 60);
  EXPECT_EQ(Open(40).Edges(5, /*directed=*/false).ValueOrDie(), graph.Edges());
  EXPECT_TRUE(Open(40).Edges(0, /*directed=*/false).ValueOrDie().empty());
}

}  // namespace
}  // namespace coden
