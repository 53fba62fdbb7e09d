#include "coden/train/train_files.h"

#include "support/schema_file.h"

namespace coden {
namespace {

TEST(TrainFiles, SchemasAreAsDescribed) {
  test::CheckSchemaFile(*MetricsSchema(), "metrics");
  test::CheckSchemaFile(*PredictionsSchema(arrow::int64(), arrow::int64()),
                        "predictions");
}

}  // namespace
}  // namespace coden
