#include "plan/memory_guard_internal.h"

#include <arrow/array/builder_primitive.h>
#include <gtest/gtest.h>

#include "coden/base/error.h"
#include "coden/plan/resources.h"
#include "support/status.h"

namespace coden {
namespace {

BatchPtr Rows(std::int64_t count) {
  return arrow::RecordBatch::Make(arrow::schema({}), count, arrow::ArrayVector{});
}

TEST(MemoryGuard, StopsBeforeWhatWouldBeTooMuch) {
  Settings settings;
  settings.run.memory_limit = ResidentMemory() + 500'000'000;
  std::int64_t growth = 100'000'000;
  std::int64_t asked = 0;
  MemoryGuard guard(settings, 1'000'000, [&](std::int64_t rows) {
    asked = rows;
    return growth;
  });
  int handed = 0;
  const Emit emit = [&](BatchPtr batch) {
    handed += static_cast<int>(batch->num_rows());
    return arrow::Status::OK();
  };
  CODEN_EXPECT_OK(guard.Push(Rows(1000), emit));
  EXPECT_EQ(asked, 1000);
  EXPECT_EQ(handed, 1000);
  growth = 600'000'000;
  const arrow::Status status = guard.Push(Rows(2000), emit);
  EXPECT_EQ(FaultOf(status), Fault::kResources) << status.ToString();
  EXPECT_EQ(handed, 1000) << "the batch is not handed on";
  for (const char* part : {"after 1000 of 1,000,000 rows", "raise `run.memory_limit`: "})
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(MemoryGuard, WithoutALimitTheMachineIsOne) {
  const Settings settings;
  MemoryGuard guard(settings, 1, [](std::int64_t) { return std::int64_t{1} << 60; });
  const arrow::Status status =
      guard.Push(Rows(1), [](BatchPtr) { return arrow::Status::OK(); });
  EXPECT_EQ(FaultOf(status), Fault::kResources);
  EXPECT_NE(status.message().find("this one has: "), std::string::npos);
}

}  // namespace
}  // namespace coden
