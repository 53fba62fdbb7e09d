#include "coden/snapshot/snapshot_cache.h"

#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

namespace coden {
namespace {

std::shared_ptr<NodeIdMap> MapOf(const std::vector<std::int64_t>& ids) {
  std::shared_ptr<NodeIdMap> map = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  arrow::Int64Builder builder;
  std::vector<NodeId> numbers;
  EXPECT_TRUE(builder.AppendValues(ids).ok());
  EXPECT_TRUE(map->Encode(*builder.Finish().ValueOrDie(), &numbers).ok());
  return map;
}

// All nodes of the run.
const NodeIdMap& Nodes() {
  static const std::shared_ptr<NodeIdMap> nodes = MapOf({9, 8, 7, 6, 5, 4, 3, 2, 1});
  return *nodes;
}

// Rows of a snapshot: every node with the numbers 10 id + snapshot and its half.
BatchPtr Rows(int snapshot, const std::vector<std::int64_t>& ids) {
  arrow::Int32Builder snapshots, nodes;
  const auto values = std::make_shared<arrow::FloatBuilder>();
  arrow::ListBuilder lists(arrow::default_memory_pool(), values);
  for (const std::int64_t id : ids) {
    const auto number = static_cast<float>(10 * id + snapshot);
    EXPECT_TRUE(snapshots.Append(snapshot).ok() &&
                nodes.Append(static_cast<NodeId>(9 - id)).ok() && lists.Append().ok() &&
                values->Append(number).ok() && values->Append(number / 2).ok());
  }
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("snapshot", arrow::int32()),
                     arrow::field("node", arrow::int32()),
                     arrow::field("embedding", arrow::list(arrow::float32()))}),
      static_cast<std::int64_t>(ids.size()),
      {snapshots.Finish().ValueOrDie(), nodes.Finish().ValueOrDie(),
       lists.Finish().ValueOrDie()});
}

std::string Show(const SnapshotCache& cache, int snapshot) {
  const auto rows = cache.Find(snapshot).ValueOrDie();
  if (!rows) return "none";
  std::string text;
  const auto& nodes = static_cast<const arrow::Int64Array&>(*rows->nodes());
  for (std::int64_t row = 0; row < rows->num_rows(); ++row) {
    text += std::to_string(nodes.Value(row)) + ":";
    for (const float number : rows->row(row))
      text += std::to_string(static_cast<int>(number)) + " ";
  }
  return text;
}

TEST(SnapshotCache, KeepsRowsOfSomeNodesAndPassesAllOn) {
  // One of the nodes to keep is not of this run.
  SnapshotCache cache(MapOf({7, 30, 3, 9}), 1 << 20);
  ASSERT_TRUE(cache.Follow(Nodes()).ok());
  std::int64_t passed = 0;
  const Emit count = [&](const BatchPtr& batch) {
    passed += batch->num_rows();
    return arrow::Status::OK();
  };
  ASSERT_TRUE(cache.Push(Rows(0, {1, 3}), count).ok());
  ASSERT_TRUE(cache.Push(Rows(1, {1, 3, 4}), count).ok());
  ASSERT_TRUE(cache.Push(Rows(1, {7, 8}), count).ok());
  EXPECT_EQ(passed, 7);
  EXPECT_EQ(Show(cache, 0), "3:30 15 ");
  EXPECT_EQ(Show(cache, 1), "3:31 15 7:71 35 ");
  EXPECT_EQ(Show(cache, 2), "none");
  cache.Drop(0);
  EXPECT_EQ(Show(cache, 0), "none");
}

TEST(SnapshotCache, KeepsNoRowsWhereIdsAreOfAnotherType) {
  SnapshotCache cache(NodeIdMap::Make(arrow::utf8()).ValueOrDie(), 1 << 20);
  ASSERT_TRUE(cache.Follow(Nodes()).ok());
  const Emit discard = [](const BatchPtr&) { return arrow::Status::OK(); };
  ASSERT_TRUE(cache.Push(Rows(0, {1, 3}), discard).ok());
  EXPECT_EQ(Show(cache, 0), "");
}

TEST(SnapshotCache, ForgetsAllWhereItIsTooSmall) {
  SnapshotCache cache(MapOf({1, 2, 3}), 400);
  ASSERT_TRUE(cache.Follow(Nodes()).ok());
  const Emit discard = [](const BatchPtr&) { return arrow::Status::OK(); };
  ASSERT_TRUE(cache.Push(Rows(0, {1, 2, 3}), discard).ok());
  EXPECT_NE(Show(cache, 0), "none");
  for (int snapshot = 1; snapshot < 20; ++snapshot)
    ASSERT_TRUE(cache.Push(Rows(snapshot, {1, 2, 3}), discard).ok());
  for (int snapshot = 0; snapshot < 20; ++snapshot)
    EXPECT_EQ(Show(cache, snapshot), "none");
}

}  // namespace
}  // namespace coden
