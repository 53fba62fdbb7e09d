#pragma once

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

namespace coden::test {

inline constexpr char kFolder[] = "state/history";

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
inline std::vector<EdgeChange> EdgesOf(const SnapshotGraph& graph) {
  std::vector<EdgeChange> edges;
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    for (const NodeId neighbour : graph.out_neighbours(node)) {
      if (graph.directed() || node <= neighbour)
        edges.emplace_back(node, neighbour, /*present=*/true);
    }
  }
  return edges;
}

inline bool IsGraph(const FileRecord& file) {
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
      EXPECT_TRUE(Open(num_nodes).Edges(done, directed).ValueOrDie() == expected);
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

}  // namespace coden::test
