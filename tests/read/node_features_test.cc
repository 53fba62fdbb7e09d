#include "coden/read/node_features.h"

#include <cmath>
#include <map>

#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

using Vectors = std::map<std::string, std::vector<float>>;

class NodeFeaturesTest : public ::testing::Test {
 protected:
  void SetUp() override { nodes_ = NodeIdMap::Make(arrow::int64()).ValueOrDie(); }

  std::string File(const std::string& name, const std::shared_ptr<arrow::DataType>& type,
                   const std::string& nodes, const std::string& vectors,
                   const std::string& times = "") {
    std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>> columns = {
        {"node", ArrayOf(arrow::int64(), nodes)}, {"x", ArrayOf(type, vectors)}};
    if (!times.empty()) columns.push_back({"time", ArrayOf(arrow::int64(), times)});
    return WriteParquet(folder_ / name, *TableOf(columns));
  }
  arrow::Result<NodeFeatures> Open(const std::string& features,
                                   const std::string& updates = "") {
    InputOptions input;
    input.features = features;
    input.feature_updates = updates;
    input.batch_rows = 2;
    return NodeFeatures::Open(input, *nodes_);
  }
  arrow::Result<NodeFeatures> OpenList(const std::string& nodes,
                                       const std::string& vectors) {
    return Open(File("x.parquet", arrow::list(arrow::float32()), nodes, vectors));
  }
  arrow::Result<NodeFeatures> OpenUpdates(const std::string& vectors,
                                          const std::string& times) {
    const auto type = arrow::list(arrow::float32());
    return Open(File("x.parquet", type, "[1, 2]", "[[1, 2], [3, 4]]"),
                File("u.parquet", type, "[1, 9, 2]", vectors, times));
  }
  Vectors All(const NodeFeatures& features) {
    Vectors all;
    CODEN_EXPECT_OK(features.ForEach(*nodes_, [&](NodeId node, std::span<const float> x) {
      all[nodes_->Show(node)].assign(x.begin(), x.end());
    }));
    return all;
  }
  std::string At(const std::string& name, const std::string& column) {
    return "'" + (folder_ / name) + "', column '" + column + "'";
  }

  TempDir folder_;
  std::unique_ptr<NodeIdMap> nodes_;
};

TEST_F(NodeFeaturesTest, ReadsListsOfEveryKind) {
  const auto element = arrow::field("element", arrow::float32());
  for (const auto& type :
       {arrow::list(arrow::float32()), arrow::large_list(arrow::float32()),
        arrow::fixed_size_list(arrow::float32(), 2), arrow::list(arrow::float64()),
        arrow::fixed_size_list(arrow::float64(), 2), arrow::list(arrow::int32())}) {
    SCOPED_TRACE(type->ToString());
    SetUp();
    const auto features =
        Open(File("x.parquet", type, "[7, -3, 5]", "[[1, -4], [3, 0], [0, 0]]"))
            .ValueOrDie();
    EXPECT_EQ(features.width(), 2);
    EXPECT_EQ(features.row_nodes(), (std::vector<NodeId>{0, 1, 2}));
    EXPECT_EQ(features.LargestEntry(0, *nodes_), 4.0f);
    EXPECT_EQ(features.LargestEntry(2, *nodes_), 0.0f);
    EXPECT_EQ(All(features), (Vectors{{"7", {1, -4}}, {"-3", {3, 0}}, {"5", {0, 0}}}));
  }
}

TEST_F(NodeFeaturesTest, RefusesVectorsThatAreNoVectors) {
  const std::string at = At("x.parquet", "x");
  ExpectInputError(OpenList("[1, 2, 3]", "[[1, 2], [3, 4], [5, 6, 7]]"),
                   at + ", row 2: every vector must have the same length: 3 here, 2 "
                        "before");
  ExpectInputError(OpenList("[1, 2, 3]", "[[1, 2], [3, null], [5, 6]]"),
                   at + ", row 1: a vector must not hold a null; give a number");
  ExpectInputError(
      OpenList("[1, 2, 3]", "[[1, 2], [3, 4], null]"),
      at + ", row 2: a vector must not be null; remove the row, or give zeros");
  ExpectInputError(OpenList("[1]", "[[]]"), at + ", row 0: a vector must not be empty");
  for (const auto& [json, value] : {std::pair{"[[1, 2], [3, NaN]]", "nan"},
                                    std::pair{"[[1, 2], [-Inf, 0]]", "-inf"}}) {
    ExpectInputError(OpenList("[1, 2]", json),
                     at +
                         ", row 1: a feature must be finite as a 32-bit number; replace "
                         "NaN, infinity and numbers beyond 3.4e38: " +
                         value);
  }
  // Finite as a double, but not as what the tool computes with.
  ExpectInputErrorWith(
      Open(File("x.parquet", arrow::list(arrow::float64()), "[1]", "[[1e300]]")),
      "a feature must be finite as a 32-bit number");
  ExpectInputError(
      Open(File("x.parquet", arrow::list(arrow::utf8()), "[1]", R"([["a"]])")),
      at + ": features must be a list of numbers in one column; convert the file: "
           "list<element: string>");
  // Wide files have a column for each number.
  const std::string none = ": there is no such column";
  const auto number = ArrayOf(arrow::float32(), "[1]");
  const auto node = ArrayOf(arrow::int64(), "[1]");
  ExpectInputError(Open(WriteParquet(folder_ / "x.parquet",
                                     *TableOf({{"node", node}, {"f0", number}}))),
                   at + none +
                       ", and no other has a type that fits `input.feature`; features "
                       "must be a list of numbers in one column; convert the file");
  const auto list = ArrayOf(arrow::list(arrow::float32()), "[[1]]");
  ExpectInputError(
      Open(WriteParquet(folder_ / "x.parquet",
                        *TableOf({{"node", node}, {"f0", number}, {"v", list}}))),
      at + none + "; set `input.feature` to one of: v");
}

TEST_F(NodeFeaturesTest, RefusesNodesThatAreNoNodes) {
  const std::string at = At("x.parquet", "node");
  ExpectInputError(OpenList("[1, 2, 1]", "[[1], [2], [3]]"),
                   at + ", row 2: a node must not have two rows; keep one: 1");
  ExpectInputError(OpenList("[1, null]", "[[1], [2]]"),
                   at + ", row 1: a null is not allowed here; fill or remove the row");
  ExpectInputError(OpenList("[]", "[]"),
                   "'" + (folder_ / "x.parquet") +
                       "': the features file has no rows; fill it, or use "
                       "`input.random_features`");
  nodes_ = NodeIdMap::Make(arrow::utf8()).ValueOrDie();
  ExpectInputError(OpenList("[1]", "[[1]]"),
                   at + ": node ids must be of the kind that the edge log has; convert "
                        "the column: int64 here, string there");
}

TEST_F(NodeFeaturesTest, GivesUpdatesInTimeOrder) {
  const auto features =
      OpenUpdates("[[5, 6], [7, 8], [9, 9]]", "[10, 10, 30]").ValueOrDie();
  EXPECT_EQ(nodes_->size(), 3) << "nodes of the updates are numbered as well";
  auto updates = features.OpenUpdates(*nodes_).ValueOrDie();
  const auto advance = [&](EventTime time) {
    std::string seen;
    CODEN_EXPECT_OK(
        updates.AdvanceTo(time, *nodes_, [&](NodeId node, std::span<const float> x) {
          seen += nodes_->Show(node) + ":" + std::to_string(static_cast<int>(x[0])) + " ";
        }));
    return seen;
  };
  EXPECT_EQ(advance(9), "");
  EXPECT_EQ(advance(10), "1:5 9:7 ");
  EXPECT_EQ(advance(29), "");
  EXPECT_EQ(advance(100), "2:9 ");
  EXPECT_EQ(advance(200), "");
}

TEST_F(NodeFeaturesTest, RefusesUpdatesThatBreakARule) {
  ExpectInputError(OpenUpdates("[[5, 6], [7, 8], [9, 9]]", "[10, 30, 20]"),
                   At("u.parquet", "time") +
                       ", row 2: times must not fall from row to row; sort the file by "
                       "time: 20 after 30");
  SetUp();
  ExpectInputError(OpenUpdates("[[5], [7], [9]]", "[10, 20, 30]"),
                   At("u.parquet", "x") +
                       ", row 0: a new vector must have the length of the features: 1 "
                       "here, 2 there");
}

TEST_F(NodeFeaturesTest, DrawsRandomFeaturesFromTheIdAlone) {
  InputOptions input;
  input.random_features = 400;
  std::vector<NodeId> ignored;
  const auto draw = [&](const std::string& order, std::uint64_t seed) {
    SetUp();
    input.random_seed = seed;
    const auto features = NodeFeatures::Open(input, *nodes_).ValueOrDie();
    CODEN_EXPECT_OK(nodes_->Encode(*ArrayOf(arrow::int64(), order), &ignored));
    return All(features);
  };
  const Vectors first = draw("[5, 6, -7]", 1);
  EXPECT_EQ(first, draw("[-7, 5, 6]", 1));
  EXPECT_NE(first, draw("[5, 6, -7]", 2));
  double sum = 0.0;
  double squares = 0.0;
  for (const auto& [node, vector] : first) {
    for (const float value : vector) {
      sum += value;
      squares += value * value;
    }
  }
  EXPECT_NEAR(sum / 1200, 0.0, 0.15);
  EXPECT_NEAR(squares / 1200, 1.0, 0.2);
}

TEST_F(NodeFeaturesTest, NeedsFeaturesFromSomewhere) {
  EXPECT_EQ(FaultOf(Open("").status()), Fault::kUsage);
}

}  // namespace
}  // namespace coden
