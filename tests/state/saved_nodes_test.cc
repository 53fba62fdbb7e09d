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
  void Save(const NodeIdMap& nodes, const std::vector<SampledNode>& saved) {
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
  const std::vector<SampledNode> saved = {
      {.since = 0, .largest = 1.5f, .first_event = 7, .arrival = 1},
      {.since = 3, .largest = 0.0f},
      {},
      {.since = 12, .largest = 3.4e38f, .first_event = 0, .arrival = 0}};
  for (const auto& ids : {ArrayOf(arrow::int64(), "[9, -3, 0, 9223372036854775807]"),
                          ArrayOf(arrow::utf8(), R"(["b", "", "a", "ü"])")}) {
    Save(*Nodes(ids), saved);
    const auto nodes = NodeIdMap::Make(ids->type()).ValueOrDie();
    const auto back = LoadNodes(*store_, *nodes).ValueOrDie();
    EXPECT_TRUE(nodes->Ids(0, nodes->size()).ValueOrDie()->Equals(*ids));
    ASSERT_EQ(back.size(), saved.size());
    for (std::size_t i = 0; i < saved.size(); ++i) {
      EXPECT_EQ(back[i].since, saved[i].since) << i;
      EXPECT_EQ(back[i].largest, saved[i].largest) << i;
      EXPECT_EQ(back[i].first_event, saved[i].first_event) << i;
      EXPECT_EQ(back[i].arrival, saved[i].arrival) << i;
    }
  }
}

TEST_F(SavedNodesTest, NodesThatNobodyKnowsWereNotSeen) {
  Save(*Nodes(ArrayOf(arrow::int64(), "[5, 6]")),
       {{.since = 0, .largest = 1.0f, .first_event = 2, .arrival = 0}});
  const auto nodes = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  const auto back = LoadNodes(*store_, *nodes).ValueOrDie();
  ASSERT_EQ(back.size(), 2u);
  EXPECT_TRUE(back[0].seen());
  EXPECT_FALSE(back[1].seen());
  EXPECT_EQ(back[1].first_event, SampledNode::kNever);
  EXPECT_EQ(back[1].arrival, -1);
  const auto table = ReadParquetFile(*store_, RunLayout::kNodes).ValueOrDie();
  for (const char* const column : {"first_event", "arrival", "since"})
    EXPECT_EQ(table->GetColumnByName(column)->null_count(), 1) << column;
}

TEST_F(SavedNodesTest, AreOpenedWithIdsOfTheirOwnType) {
  for (const auto& ids :
       {ArrayOf(arrow::int64(), "[9, -3]"), ArrayOf(arrow::utf8(), R"(["b", "a"])")}) {
    Save(*Nodes(ids), {{.since = 4, .largest = 1.0f}});
    const SavedNodes nodes = OpenNodes(*store_).ValueOrDie();
    EXPECT_TRUE(nodes.ids->Ids(0, 2).ValueOrDie()->Equals(*ids));
    ASSERT_EQ(nodes.known.size(), 2u);
    EXPECT_EQ(nodes.known[0].since, 4);
    EXPECT_FALSE(nodes.known[1].seen());
  }
}

TEST_F(SavedNodesTest, NodesBehindTheLastThatIsKnownDidNotCome) {
  const auto times = TimesOf(
      {{.since = 2, .first_event = 5, .arrival = 1}, {}, {.since = 0}}, /*num_nodes=*/4);
  EXPECT_EQ(times->since, (std::vector<std::int32_t>{2, -1, 0, -1}));
  EXPECT_EQ(times->arrivals, (std::vector<std::int32_t>{1, -1, -1, -1}));
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

// The next node that arrives is counted behind them.
TEST_F(SavedNodesTest, PlacesThatNoNodeCanHaveAreCorruption) {
  Save(*Nodes(ArrayOf(arrow::int64(), "[5, 6]")), {});
  const auto table = ReadParquetFile(*store_, RunLayout::kNodes).ValueOrDie();
  for (const auto& [column, values] :
       std::vector<std::pair<int, std::string>>{{2, "[0, 2]"},
                                                {2, "[2147483647, null]"},
                                                {2, "[null, -1]"},
                                                {3, "[-1, null]"}}) {
    SCOPED_TRACE(values);
    const auto damaged = table->CombineChunksToBatch().ValueOrDie()->SetColumn(
        column, table->schema()->field(column), ArrayOf(arrow::int32(), values));
    const FileRecord file =
        StageParquetFile(*store_, RunLayout::kNodes, **damaged).ValueOrDie();
    CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
    auto nodes = NodeIdMap::Make(arrow::int64()).ValueOrDie();
    ExpectCorruption(*nodes, "is not the list of nodes of this run");
  }
}

TEST_F(SavedNodesTest, AnotherTableIsCorruption) {
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("node", arrow::int64(), false)}), 2,
      {ArrayOf(arrow::int64(), "[5, 6]")});
  const FileRecord file =
      StageParquetFile(*store_, RunLayout::kNodes, *batch).ValueOrDie();
  CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
  auto nodes = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  ExpectCorruption(*nodes, "is not the list of nodes of this run");
  EXPECT_EQ(FaultOf(OpenNodes(*store_).status()), Fault::kCorruption);
}

}  // namespace
}  // namespace coden
