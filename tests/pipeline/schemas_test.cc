#include "coden/experiment/experiment.h"
#include "coden/sample/schedule.h"
#include "coden/snapshot/snapshot_writer.h"
#include "coden/state/history.h"
#include "coden/state/saved_nodes.h"
#include "coden/state/saved_work.h"
#include "coden/version.h"
#include "support/schema_file.h"

namespace coden {
namespace {

using test::CheckSchemaFile;

TEST(Schemas, FilesOfARunAreAsDescribed) {
  CheckSchemaFile(*ScheduleSchema(), "schedule");
  CheckSchemaFile(*WorkSchema(), "work");
  CheckSchemaFile(*NodesSchema(arrow::int64()), "nodes");
  CheckSchemaFile(*HistorySchema(), "history");
  CheckSchemaFile(*SnapshotSchema(arrow::int64(), SnapshotLayout::kList, /*width=*/4),
                  "snapshot");
}

TEST(Schemas, TheTableOfASuiteIsAsDescribed) {
  CheckSchemaFile(*ExperimentSchema(), "experiment");
}

TEST(Version, IsThatOfTheBuild) { EXPECT_EQ(kVersion, CODEN_VERSION); }

}  // namespace
}  // namespace coden
