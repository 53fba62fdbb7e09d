#include "coden/graph/node_id_map.h"

#include <cstdint>
#include <limits>
#include <random>
#include <unordered_map>

#include "support/parquet.h"
#include "support/status.h"

namespace coden {
namespace {

constexpr char kExtremes[] =
    "[0, -1, 9223372036854775807, -9223372036854775808, 4294967296, 0, "
    "9223372036854775807]";

TEST(NodeIdMap, NumbersAnyIntegersByFirstAppearance) {
  const auto map = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  std::vector<NodeId> nodes;
  CODEN_EXPECT_OK(map->Encode(*ArrayOf(arrow::int64(), kExtremes), &nodes));
  EXPECT_EQ(nodes, (std::vector<NodeId>{0, 1, 2, 3, 4, 0, 2}));
  EXPECT_EQ(map->size(), 5);
  EXPECT_EQ(map->Show(3), "-9223372036854775808");
  EXPECT_TRUE(map->Ids(1, 4).ValueOrDie()->Equals(
      ArrayOf(arrow::int64(), "[-1, 9223372036854775807, -9223372036854775808]")));
  EXPECT_TRUE(
      map->Take({4, 0}).ValueOrDie()->Equals(ArrayOf(arrow::int64(), "[4294967296, 0]")));
}

TEST(NodeIdMap, NumbersStrings) {
  const auto map = NodeIdMap::Make(arrow::utf8()).ValueOrDie();
  std::vector<NodeId> nodes;
  CODEN_EXPECT_OK(
      map->Encode(*ArrayOf(arrow::utf8(), R"(["b", "", "a", "b", "Ähre"])"), &nodes));
  EXPECT_EQ(nodes, (std::vector<NodeId>{0, 1, 2, 0, 3}));
  EXPECT_EQ(map->Show(3), "'Ähre'");
  EXPECT_TRUE(map->Ids(0, 4).ValueOrDie()->Equals(
      ArrayOf(arrow::utf8(), R"(["b", "", "a", "Ähre"])")));
}

// Many short strings make the table grow: the views of the first ones must stay valid.
TEST(NodeIdMap, KeepsStringsWhileItGrows) {
  const auto map = NodeIdMap::Make(arrow::utf8()).ValueOrDie();
  arrow::StringBuilder builder;
  for (int i = 0; i < 50000; ++i) CODEN_EXPECT_OK(builder.Append(std::to_string(i)));
  const auto ids = builder.Finish().ValueOrDie();
  std::vector<NodeId> nodes;
  CODEN_EXPECT_OK(map->Encode(*ids, &nodes));
  CODEN_EXPECT_OK(map->Encode(*ids, &nodes));
  EXPECT_EQ(map->size(), 50000);
  for (int i = 0; i < 50000; ++i) ASSERT_EQ(nodes[i], i);
}

// Ids that are too large for the array when they come are within its reach later.
TEST(NodeIdMap, KeepsIdsThatTheArrayReachesLater) {
  const auto map = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  std::unordered_map<std::int64_t, NodeId> expected;
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    arrow::Int64Builder builder;
    std::vector<NodeId> right;
    for (int i = 0; i < 20'000; ++i) {
      const auto id = static_cast<std::int64_t>(random() % 1'000'000) - 1000;
      CODEN_EXPECT_OK(builder.Append(id));
      right.push_back(
          expected.emplace(id, static_cast<NodeId>(expected.size())).first->second);
    }
    const auto ids = builder.Finish().ValueOrDie();
    std::vector<NodeId> nodes;
    CODEN_EXPECT_OK(map->Encode(*ids, &nodes));
    ASSERT_EQ(nodes, right);
    CODEN_EXPECT_OK(map->Find(*ids, &nodes));
    ASSERT_EQ(nodes, right);
  }
  std::vector<NodeId> nodes;
  CODEN_EXPECT_OK(map->Find(*ArrayOf(arrow::int64(), "[-5000, 2000000]"), &nodes));
  EXPECT_EQ(nodes, (std::vector<NodeId>{kNoNode, kNoNode}));
}

TEST(NodeIdMap, EncodesEdgesRowByRow) {
  const auto src = ArrayOf(arrow::int64(), "[7, 5, 7]");
  const auto dst = ArrayOf(arrow::int64(), "[9, 7, 3]");
  const auto whole = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  std::vector<NodeId> src_nodes, dst_nodes;
  CODEN_EXPECT_OK(whole->EncodeEdges(*src, *dst, &src_nodes, &dst_nodes));
  EXPECT_EQ(src_nodes, (std::vector<NodeId>{0, 2, 0}));
  EXPECT_EQ(dst_nodes, (std::vector<NodeId>{1, 0, 3}));

  const auto cut = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  for (std::int64_t row = 0; row < 3; ++row) {
    CODEN_EXPECT_OK(cut->EncodeEdges(*src->Slice(row, 1), *dst->Slice(row, 1), &src_nodes,
                                     &dst_nodes));
  }
  EXPECT_TRUE(cut->Ids(0, 4).ValueOrDie()->Equals(whole->Ids(0, 4).ValueOrDie()));
}

TEST(NodeIdMap, FindDoesNotNumberAnything) {
  const auto map = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  std::vector<NodeId> nodes;
  CODEN_EXPECT_OK(map->Encode(*ArrayOf(arrow::int64(), "[10, 20]"), &nodes));
  CODEN_EXPECT_OK(map->Find(*ArrayOf(arrow::int64(), "[20, 30, 10]"), &nodes));
  EXPECT_EQ(nodes, (std::vector<NodeId>{1, kNoNode, 0}));
  EXPECT_EQ(map->size(), 2);
}

TEST(NodeIdMap, AgreesWithAStandardMapOnRandomSparseIds) {
  std::mt19937_64 random(11);
  const auto map = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  std::unordered_map<std::int64_t, NodeId> expected;
  for (int round = 0; round < 20; ++round) {
    arrow::Int64Builder builder;
    std::vector<NodeId> want;
    for (int i = 0; i < 1000; ++i) {
      // Strided ids share their low bits.
      const auto id = static_cast<std::int64_t>((random() % 3000) << 40);
      CODEN_EXPECT_OK(builder.Append(id));
      want.push_back(
          expected.try_emplace(id, static_cast<NodeId>(expected.size())).first->second);
    }
    std::vector<NodeId> nodes;
    CODEN_EXPECT_OK(map->Encode(*builder.Finish().ValueOrDie(), &nodes));
    ASSERT_EQ(nodes, want);
  }
}

TEST(NodeIdMap, TakesNoNewIdOnceFrozen) {
  const auto map = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  const auto ids = ArrayOf(arrow::int64(), "[7, 8]");
  const auto others = ArrayOf(arrow::int64(), "[8, 9]");
  std::vector<NodeId> nodes, targets;
  CODEN_EXPECT_OK(map->Encode(*ids, &nodes));
  map->Freeze();
  CODEN_EXPECT_OK(map->EncodeEdges(*ids, *ids, &nodes, &targets));
  EXPECT_EQ(targets, (std::vector<NodeId>{0, 1}));
  for (const arrow::Status& status :
       {map->Encode(*others, &nodes), map->EncodeEdges(*ids, *others, &nodes, &targets),
        map->EncodeEdges(*others, *ids, &nodes, &targets)}) {
    EXPECT_EQ(status.message(), "an input changed while it was read; run again");
  }
  EXPECT_EQ(map->size(), 2);
}

TEST(NodeIdMap, KnowsWhichTypesAreIds) {
  for (const auto& type : {arrow::int8(), arrow::int32(), arrow::uint64(),
                           arrow::dictionary(arrow::int8(), arrow::int32())}) {
    EXPECT_TRUE(NodeIdMap::IdType(*type).ValueOrDie()->Equals(arrow::int64()));
  }
  for (const auto& type : {arrow::utf8(), arrow::large_utf8(), arrow::utf8_view(),
                           arrow::dictionary(arrow::int32(), arrow::utf8())}) {
    EXPECT_TRUE(NodeIdMap::IdType(*type).ValueOrDie()->Equals(arrow::utf8()));
  }
  for (const auto& type : {arrow::float64(), arrow::boolean(), arrow::binary(),
                           arrow::list(arrow::int64())}) {
    ExpectInputError(NodeIdMap::IdType(*type),
                     std::string(NodeIdMap::kIdRule) + ": " + type->ToString());
  }
}

TEST(NodeIdMap, KnowsWhatItTakes) {
  const auto bytes_per_node = [](std::int64_t stride) {
    constexpr std::int64_t kNodes = 100'000;
    auto map = NodeIdMap::Make(arrow::int64()).ValueOrDie();
    arrow::Int64Builder ids;
    for (std::int64_t node = 0; node < kNodes; ++node)
      EXPECT_TRUE(ids.Append(node * stride).ok());
    std::vector<NodeId> ignored;
    CODEN_EXPECT_OK(map->Encode(*ids.Finish().ValueOrDie(), &ignored));
    return map->MemoryBytes() / kNodes;
  };
  // The id itself, and its place in an array or in a table that is never full.
  EXPECT_GE(bytes_per_node(1), 12);
  EXPECT_LE(bytes_per_node(1), 2 * 12);
  EXPECT_GE(bytes_per_node(1'000'003), 8 + 24);

  auto names = NodeIdMap::Make(arrow::utf8()).ValueOrDie();
  const std::int64_t before = names->MemoryBytes();
  arrow::StringBuilder name;
  EXPECT_TRUE(name.Append(std::string(1000, 'x')).ok());
  std::vector<NodeId> ignored;
  CODEN_EXPECT_OK(names->Encode(*name.Finish().ValueOrDie(), &ignored));
  EXPECT_GE(names->MemoryBytes() - before, 1000);
}

}  // namespace
}  // namespace coden
