#include "coden/state/history.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

#include "coden/store/run_layout.h"
#include "support/parquet.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

constexpr char kFolder[] = "state/history";

// A graph that changes at random: the model is a plain set of edges.
class RandomGraph {
 public:
  RandomGraph(NodeId num_nodes, bool directed, unsigned seed)
      : num_nodes_(num_nodes), directed_(directed), random_(seed) {}

  // Add or remove about `count` random edges. Returns what they amount to, sorted.
  std::vector<EdgeChange> Toggle(int count) {
    std::set<std::pair<NodeId, NodeId>> toggled;
    for (int i = 0; i < count; ++i) {
      const auto node = [&] { return static_cast<NodeId>(random_() % num_nodes_); };
      std::pair<NodeId, NodeId> edge{node(), node()};
      if (!directed_ && edge.first > edge.second) std::swap(edge.first, edge.second);
      toggled.insert(edge);
    }
    std::vector<EdgeChange> changes;
    for (const auto& edge : toggled) {
      const bool present = edges_.insert(edge).second;
      if (!present) edges_.erase(edge);
      changes.emplace_back(edge.first, edge.second, present);
    }
    return changes;
  }

  // All edges, sorted.
  std::vector<EdgeChange> Edges() const {
    std::vector<EdgeChange> edges;
    for (const auto& [src, dst] : edges_) edges.emplace_back(src, dst, /*present=*/true);
    return edges;
  }

 private:
  NodeId num_nodes_;
  bool directed_;
  std::mt19937 random_;
  std::set<std::pair<NodeId, NodeId>> edges_;
};

// The edges of a snapshot graph, each once.
std::vector<EdgeChange> EdgesOf(const SnapshotGraph& graph) {
  std::vector<EdgeChange> edges;
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    for (const NodeId neighbour : graph.out_neighbours(node)) {
      if (graph.directed() || node <= neighbour)
        edges.emplace_back(node, neighbour, /*present=*/true);
    }
  }
  return edges;
}

bool IsGraph(const FileRecord& file) {
  return file.path.find("/graph-") != std::string::npos;
}

class HistoryTest : public ::testing::Test {
 protected:
  // Write the next `num_snapshots` snapshots of `graph`, with about `num_changes` changes
  // each, behind those that are there, as the first pass does. What is present at each of
  // them is added to `edges_`.
  void Write(RandomGraph& graph, int num_snapshots, int num_changes) {
    const auto writer = HistoryWriter::Make(*store_, kFolder, files_).ValueOrDie();
    for (int i = 0; i < num_snapshots; ++i) {
      const auto snapshot = static_cast<int>(edges_.size());
      CODEN_EXPECT_OK(writer->Write(snapshot, graph.Toggle(num_changes)));
      edges_.push_back(graph.Edges());
      if (writer->WantsGraph(static_cast<std::int64_t>(edges_.back().size())))
        CODEN_EXPECT_OK(writer->WriteGraph(edges_.back()));
    }
    Place(writer->Close().ValueOrDie());
  }
  void Place(const std::vector<FileRecord>& files) {
    for (const FileRecord& file : files) {
      CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
      files_.push_back({file.path, file.size, file.rows, file.xxh3});
    }
  }

  History Open(NodeId num_nodes) const {
    return History::Open(*store_, kFolder, files_, num_nodes).ValueOrDie();
  }

  // Open at every snapshot, and follow the rest from there.
  void ExpectEverySnapshot(NodeId num_nodes, bool directed) {
    const auto num_snapshots = static_cast<int>(edges_.size());
    for (int done = 0; done <= num_snapshots; ++done) {
      SCOPED_TRACE(::testing::Message() << "opened after " << done << " snapshots");
      const std::vector<EdgeChange> expected =
          done == 0 ? std::vector<EdgeChange>() : edges_[done - 1];
      EXPECT_TRUE(Open(num_nodes).Edges(done).ValueOrDie() == expected);
      History history = Open(num_nodes);
      SnapshotGraph graph(directed);
      CODEN_EXPECT_OK(history.Load(done, graph));
      EXPECT_EQ(graph.num_nodes(), num_nodes);
      EXPECT_TRUE(graph.changes().empty());
      EXPECT_TRUE(EdgesOf(graph) == expected);
      // The next snapshot, and then some that lie apart.
      for (int next = done, step = 1; next < num_snapshots; next += step++) {
        CODEN_EXPECT_OK(history.AdvanceTo(next, graph));
        EXPECT_TRUE(EdgesOf(graph) == edges_[next]) << next;
        graph.Settle();
      }
    }
  }

  // Put a file of changes with these rows in the place of all others.
  void WriteChanges(const std::string& snapshots, const std::string& sources,
                    const std::string& targets, const std::string& present) {
    WriteTable(RunLayout::HistoryChanges(kFolder, 0), *HistorySchema(),
               {ArrayOf(arrow::int32(), snapshots), ArrayOf(arrow::int32(), sources),
                ArrayOf(arrow::int32(), targets), ArrayOf(arrow::boolean(), present)});
  }
  void WriteTable(const std::string& name, const arrow::Schema& schema,
                  const arrow::ArrayVector& columns) {
    files_.clear();
    const auto batch = arrow::RecordBatch::Make(std::make_shared<arrow::Schema>(schema),
                                                columns[0]->length(), columns);
    Place({StageParquetFile(*store_, name, *batch).ValueOrDie()});
  }

  // However a history of five nodes and three snapshots is read, its only file is said to
  // be damaged.
  void ExpectDamaged() {
    ExpectDamaged(Loaded());
    ExpectDamaged(Followed());
  }
  void ExpectDamaged(const arrow::Status& status) const {
    EXPECT_EQ(FaultOf(status), Fault::kCorruption) << status.ToString();
    const std::string shown = "'" + store_->Show(files_.at(0).path) + "'";
    EXPECT_NE(status.message().find(shown), std::string::npos) << status.ToString();
  }
  arrow::Status Loaded() {
    SnapshotGraph graph(/*directed=*/true);
    return Open(5).Load(3, graph);
  }
  arrow::Status Followed() {
    History history = Open(5);
    SnapshotGraph graph(/*directed=*/true);
    for (int snapshot = 0; snapshot < 3; ++snapshot)
      ARROW_RETURN_NOT_OK(history.AdvanceTo(snapshot, graph));
    return arrow::Status::OK();
  }

  TempDir folder_;
  std::shared_ptr<RunStore> store_ = StoreAt(folder_.path());
  std::vector<FileRecord> files_;
  std::vector<std::vector<EdgeChange>> edges_;  // by snapshot
};

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
  EXPECT_EQ(Open(40).Edges(5).ValueOrDie(), graph.Edges());
  EXPECT_TRUE(Open(40).Edges(0).ValueOrDie().empty());
}

TEST_F(HistoryTest, RowsOutOfOrderAreCorruption) {
  WriteChanges("[0, 0, 1, 1, 2]", "[0, 3, 0, 1, 3]", "[1, 2, 1, 1, 2]",
               "[true, true, false, true, false]");
  CODEN_EXPECT_OK(Loaded());
  CODEN_EXPECT_OK(Followed());
  // Sources fall, targets fall, an edge stands twice, snapshots fall.
  WriteChanges("[0, 0]", "[2, 1]", "[0, 0]", "[true, true]");
  ExpectDamaged();
  WriteChanges("[1, 1]", "[2, 2]", "[3, 1]", "[true, true]");
  ExpectDamaged();
  WriteChanges("[1, 1]", "[2, 2]", "[1, 1]", "[true, true]");
  ExpectDamaged();
  WriteChanges("[1, 1]", "[2, 2]", "[1, 1]", "[false, true]");
  ExpectDamaged();
  WriteChanges("[0, 2, 1]", "[0, 1, 2]", "[1, 2, 3]", "[true, true, true]");
  ExpectDamaged();
  WriteChanges("[-1, 0]", "[0, 1]", "[1, 2]", "[true, true]");
  ExpectDamaged();
}

TEST_F(HistoryTest, NodesBeyondTheRunAreCorruption) {
  WriteChanges("[1]", "[4]", "[4]", "[true]");
  CODEN_EXPECT_OK(Loaded());
  for (const std::string node : {"[5]", "[-1]", "[2147483647]", "[-2147483648]"}) {
    SCOPED_TRACE(node);
    WriteChanges("[1]", node, "[4]", "[true]");
    ExpectDamaged();
    WriteChanges("[1]", "[4]", node, "[true]");
    ExpectDamaged();
    const auto graph = arrow::schema({arrow::field("source", arrow::int32(), false),
                                      arrow::field("target", arrow::int32(), false)});
    for (const bool is_source : {false, true}) {
      WriteTable(RunLayout::HistoryGraph(kFolder, 1), *graph,
                 {ArrayOf(arrow::int32(), is_source ? node : "[4]"),
                  ArrayOf(arrow::int32(), is_source ? "[4]" : node)});
      ExpectDamaged(Loaded());
    }
  }
}

TEST_F(HistoryTest, FilesOfAnotherSchemaAreCorruption) {
  const auto schema = HistorySchema();
  const arrow::ArrayVector columns = {
      ArrayOf(arrow::int32(), "[0]"), ArrayOf(arrow::int32(), "[1]"),
      ArrayOf(arrow::int32(), "[2]"), ArrayOf(arrow::boolean(), "[true]")};
  const std::string changes = RunLayout::HistoryChanges(kFolder, 0);
  WriteTable(changes, *schema, columns);
  CODEN_EXPECT_OK(Loaded());
  WriteTable(changes, *arrow::schema({schema->field(0), schema->field(1)}),
             {columns[0], columns[1]});
  ExpectDamaged();
  WriteTable(
      changes,
      *schema->SetField(1, arrow::field("src", arrow::int32(), false)).ValueOrDie(),
      columns);
  ExpectDamaged();
  auto wide = columns;
  wide[2] = ArrayOf(arrow::int64(), "[2]");
  WriteTable(
      changes,
      *schema->SetField(2, arrow::field("target", arrow::int64(), false)).ValueOrDie(),
      wide);
  ExpectDamaged();
  WriteTable(changes,
             *schema->SetField(3, arrow::field("present", arrow::boolean())).ValueOrDie(),
             columns);
  ExpectDamaged();
  WriteTable(RunLayout::HistoryGraph(kFolder, 1), *schema, columns);
  ExpectDamaged(Loaded());
}

TEST_F(HistoryTest, AnEdgeThatGoesAndIsNotThereIsCorruption) {
  WriteChanges("[0, 1, 2]", "[0, 0, 0]", "[1, 1, 1]", "[true, false, false]");
  ExpectDamaged();
  WriteChanges("[1]", "[0]", "[1]", "[false]");
  ExpectDamaged();
}

TEST_F(HistoryTest, AnEdgeThatComesAndIsThereIsCorruption) {
  WriteChanges("[0, 2]", "[0, 0]", "[1, 1]", "[true, true]");
  ExpectDamaged();
  // The net changes of several snapshots do not always tell how often an edge has come.
  WriteChanges("[0, 0, 1, 2]", "[0, 0, 0, 0]", "[1, 2, 2, 1]",
               "[true, true, false, true]");
  ExpectDamaged(Followed());
}

TEST_F(HistoryTest, AnUndirectedEdgeHasOneName) {
  for (const bool directed : {false, true}) {
    WriteChanges("[0, 1]", "[1, 3]", "[3, 1]", "[true, true]");
    SnapshotGraph loaded(directed), followed(directed);
    History history = Open(5);
    const arrow::Status statuses[] = {Open(5).Load(2, loaded),
                                      history.AdvanceTo(0, followed),
                                      history.AdvanceTo(1, followed)};
    CODEN_EXPECT_OK(statuses[1]);
    for (const arrow::Status& status : {statuses[0], statuses[2]}) {
      if (!directed) {
        ExpectDamaged(status);
      } else {
        CODEN_EXPECT_OK(status);
      }
    }
  }
}

TEST_F(HistoryTest, AFileThatIsGoneOrChangedIsCorruption) {
  WriteChanges("[0]", "[0]", "[1]", "[true]");
  const std::string name = files_[0].path;
  std::string text = store_->ReadText(name).ValueOrDie();
  text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
  CODEN_EXPECT_OK(store_->WriteText(name, text));
  ExpectDamaged();
  CODEN_EXPECT_OK(store_->Remove(name));
  ExpectDamaged();
}

}  // namespace
}  // namespace coden
