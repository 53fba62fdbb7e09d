#include "coden/snapshot/node_filter.h"

#include "support/parquet.h"
#include "support/status.h"

namespace coden {
namespace {

TEST(NodeFilter, PassesOnTheRowsOfItsNodesInTheirOrder) {
  const auto keep = NodeIdMap::Make(arrow::utf8()).ValueOrDie();
  std::vector<NodeId> ignored;
  CODEN_EXPECT_OK(
      keep->Encode(*ArrayOf(arrow::utf8(), R"(["d", "a", "never seen"])"), &ignored));
  const auto schema = arrow::schema(
      {arrow::field("snapshot", arrow::int32()), arrow::field("node", arrow::utf8())});
  const auto rows = [&](const std::string& snapshots, const std::string& nodes) {
    const auto column = ArrayOf(arrow::utf8(), nodes);
    return arrow::RecordBatch::Make(schema, column->length(),
                                    {ArrayOf(arrow::int32(), snapshots), column});
  };
  NodeFilter filter(*keep);
  ASSERT_TRUE(filter.Bind(schema).ValueOrDie()->Equals(*schema));
  const auto expect = [&](const BatchPtr& batch, const BatchPtr& expected) {
    BatchPtr passed;
    CODEN_EXPECT_OK(filter.Push(batch, [&](BatchPtr kept) {
      passed = std::move(kept);
      return arrow::Status::OK();
    }));
    ASSERT_NE(passed, nullptr);
    EXPECT_TRUE(passed->Equals(*expected)) << passed->ToString();
  };
  expect(rows("[0, 0, 0, 1]", R"(["a", "b", "d", "a"])"),
         rows("[0, 0, 1]", R"(["a", "d", "a"])"));
  expect(rows("[2, 2]", R"(["b", "c"])"), rows("[]", "[]"));
}

}  // namespace
}  // namespace coden
