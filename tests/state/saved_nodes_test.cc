#include "coden/state/saved_nodes.h"

#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "support/parquet.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

class SavedNodesTest : public ::testing::Test {
 protected:
  std::unique_ptr<NodeIdMap> Nodes(const std::shared_ptr<arrow::Array>& ids) {
    auto nodes = NodeIdMap::Make(ids->type()).ValueOrDie();
    std::vector<NodeId> ignored;
    CODEN_EXPECT_OK(nodes->Encode(*ids, &ignored));
    return nodes;
  }
  void Save(const NodeIdMap& nodes, const std::vector<SavedNode>& saved) {
    const FileRecord file = StageNodes(*store_, nodes, saved).ValueOrDie();
    EXPECT_EQ(file.path, RunLayout::kNodes);
    EXPECT_EQ(file.rows, nodes.size());
    CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
  }
  void ExpectCorruption(NodeIdMap& nodes, const std::string& message) {
    const arrow::Status status = LoadNodes(*store_, nodes).status();
    EXPECT_EQ(FaultOf(status), Fault::kCorruption);
    EXPECT_EQ(status.message(), "'" + store_->Show(RunLayout::kNodes) + "' " + message);
  }

  TempDir folder_;
  std::shared_ptr<RunStore> store_ = StoreAt(folder_.path());
};

TEST_F(SavedNodesTest, AreReadBackInTheirOrder) {
  const std::vector<SavedNode> saved = {{{true, 1.5f, 7}, 0},
                                        {{true, 0.0f, LazySampler::kNever}, 3},
                                        {{false, 0.0f, LazySampler::kNever}, -1},
                                        {{true, 3.4e38f, 0}, -1}};
  for (const auto& ids : {ArrayOf(arrow::int64(), "[9, -3, 0, 9223372036854775807]"),
                          ArrayOf(arrow::utf8(), R"(["b", "", "a", "ü"])")}) {
    Save(*Nodes(ids), saved);
    const auto nodes = NodeIdMap::Make(ids->type()).ValueOrDie();
    const auto back = LoadNodes(*store_, *nodes).ValueOrDie();
    EXPECT_TRUE(nodes->Ids(0, nodes->size()).ValueOrDie()->Equals(*ids));
    ASSERT_EQ(back.size(), saved.size());
    for (std::size_t i = 0; i < saved.size(); ++i) {
      EXPECT_EQ(back[i].sampled.seen, saved[i].sampled.seen) << i;
      EXPECT_EQ(back[i].sampled.largest, saved[i].sampled.largest) << i;
      EXPECT_EQ(back[i].sampled.first_event, saved[i].sampled.first_event) << i;
      EXPECT_EQ(back[i].features_since, saved[i].features_since) << i;
    }
  }
}

TEST_F(SavedNodesTest, NodesThatNobodyKnowsWereNotSeen) {
  Save(*Nodes(ArrayOf(arrow::int64(), "[5, 6]")), {{{true, 1.0f, 2}, 0}});
  const auto nodes = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  const auto back = LoadNodes(*store_, *nodes).ValueOrDie();
  ASSERT_EQ(back.size(), 2u);
  EXPECT_TRUE(back[0].sampled.seen);
  EXPECT_FALSE(back[1].sampled.seen);
  EXPECT_EQ(back[1].sampled.first_event, LazySampler::kNever);
  EXPECT_EQ(back[1].features_since, -1);
  const auto table = ReadParquetFile(*store_, RunLayout::kNodes).ValueOrDie();
  EXPECT_EQ(table->GetColumnByName("first_event")->null_count(), 1);
  EXPECT_EQ(table->GetColumnByName("features_since")->null_count(), 1);
}

TEST_F(SavedNodesTest, IdsOfAnotherTypeAreAnotherHistory) {
  Save(*Nodes(ArrayOf(arrow::int64(), "[5, 6]")), {});
  auto strings = NodeIdMap::Make(arrow::utf8()).ValueOrDie();
  const arrow::Status status = LoadNodes(*store_, *strings).status();
  EXPECT_EQ(FaultOf(status), Fault::kHistory);
  EXPECT_NE(status.message().find("node ids were int64 and are string"),
            std::string::npos);
}

TEST_F(SavedNodesTest, ANodeThatIsThereTwiceIsCorruption) {
  Save(*Nodes(ArrayOf(arrow::int64(), "[5, 6]")), {});
  auto table = ReadParquetFile(*store_, RunLayout::kNodes).ValueOrDie();
  const auto twice = table->CombineChunksToBatch().ValueOrDie()->SetColumn(
      0, table->schema()->field(0), ArrayOf(arrow::int64(), "[5, 5]"));
  const FileRecord file =
      StageParquetFile(*store_, RunLayout::kNodes, **twice).ValueOrDie();
  CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
  auto nodes = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  ExpectCorruption(*nodes, "has a node twice");
}

}  // namespace
}  // namespace coden
