#include "coden/snapshot/snapshot_cache.h"

#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

namespace coden {
namespace {

// Rows of a snapshot: every node with the numbers 10 node + snapshot and its half.
BatchPtr Rows(int snapshot, const std::vector<std::int64_t>& nodes) {
  arrow::Int32Builder snapshots;
  arrow::Int64Builder ids;
  const auto values = std::make_shared<arrow::FloatBuilder>();
  arrow::ListBuilder lists(arrow::default_memory_pool(), values);
  for (const std::int64_t node : nodes) {
    const auto number = static_cast<float>(10 * node + snapshot);
    EXPECT_TRUE(snapshots.Append(snapshot).ok() && ids.Append(node).ok() &&
                lists.Append().ok() && values->Append(number).ok() &&
                values->Append(number / 2).ok());
  }
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("snapshot", arrow::int32()),
                     arrow::field("node", arrow::int64()),
                     arrow::field("embedding", arrow::list(arrow::float32()))}),
      static_cast<std::int64_t>(nodes.size()),
      {snapshots.Finish().ValueOrDie(), ids.Finish().ValueOrDie(),
       lists.Finish().ValueOrDie()});
}

std::shared_ptr<const NodeIdMap> Keep(const std::vector<std::int64_t>& nodes) {
  std::shared_ptr<NodeIdMap> map = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  arrow::Int64Builder ids;
  std::vector<NodeId> found;
  EXPECT_TRUE(ids.AppendValues(nodes).ok());
  EXPECT_TRUE(map->Encode(*ids.Finish().ValueOrDie(), &found).ok());
  return map;
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
  SnapshotCache cache(Keep({7, 3, 9}), 1 << 20);
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

TEST(SnapshotCache, ForgetsAllWhereItIsTooSmall) {
  SnapshotCache cache(Keep({1, 2, 3}), 400);
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
