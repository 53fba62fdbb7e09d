#include "coden/state/saved_work.h"

#include <gtest/gtest.h>

#include "support/run_store.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

SolveWork Work(std::int64_t number) {
  return {number,
          number + 1,
          number + 2,
          0.0,
          number + 3,
          number + 4,
          static_cast<double>(number)};
}

TEST(SavedWorkTest, IsFilledAndCutToTheSnapshots) {
  const TempDir folder;
  const auto store = StoreAt(folder.path());
  const FileRecord record = StageWork(*store, {Work(10), Work(20)}).ValueOrDie();
  for (const int count : {1, 2, 3}) {
    const auto work = LoadWork(*store, &record, count).ValueOrDie();
    ASSERT_EQ(work.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(work[0].swept_arcs, 12);
    EXPECT_EQ(work[0].pushed_arcs, 14);
    EXPECT_EQ(work[0].seconds, 10.0);
    EXPECT_EQ(work.back().sweeps, (std::vector<int>{10, 20, 0})[count - 1]);
  }
  EXPECT_EQ(LoadWork(*store, nullptr, 2).ValueOrDie().size(), 2u);
}

}  // namespace
}  // namespace coden
