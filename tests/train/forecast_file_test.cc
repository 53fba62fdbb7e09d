#include "train/forecast_file_internal.h"

#include "support/parquet.h"
#include "support/schema_file.h"

namespace coden {
namespace {

TEST(ForecastFile, SchemaIsAsDescribed) {
  test::CheckSchemaFile(*ForecastSchema(arrow::int64(), arrow::int64()), "forecast");
}

TEST(ForecastFile, RowsAreInTheOrderOfTheSnapshot) {
  const auto ids = ArrayOf(arrow::utf8(), R"(["ann", "bob"])");
  const auto classes = ArrayOf(arrow::int64(), "[10, 20, 30]");
  const std::vector<NodeId> nodes = {2, 0};
  // Of equal probabilities the first counts.
  const std::vector<float> probabilities = {0.25f, 0.375f, 0.375f,  // node 0
                                            0.0f,  0.0f,   0.0f,    // not in the snapshot
                                            0.25f, 0.25f,  0.5f};
  const auto batch =
      ForecastBatch({7, 70, ids, nodes, probabilities}, *classes).ValueOrDie();
  ASSERT_TRUE(batch->ValidateFull().ok());
  EXPECT_TRUE(batch->column(0)->Equals(ids));
  EXPECT_TRUE(batch->column(1)->Equals(ArrayOf(arrow::int32(), "[7, 7]")));
  EXPECT_TRUE(batch->column(2)->Equals(ArrayOf(arrow::int64(), "[70, 70]")));
  EXPECT_TRUE(batch->column(3)->Equals(ArrayOf(arrow::int64(), "[30, 20]")));
  EXPECT_TRUE(batch->column(4)->Equals(ArrayOf(arrow::float64(), "[0.5, 0.375]")));
  EXPECT_TRUE(batch->column(5)->Equals(ArrayOf(
      batch->schema()->field(5)->type(), "[[0.25, 0.25, 0.5], [0.25, 0.375, 0.375]]")));
}

}  // namespace
}  // namespace coden
