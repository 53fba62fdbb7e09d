#include "coden/pipeline/error.h"

#include "support/status.h"

namespace coden {
namespace {

TEST(Error, MemoryThatALibraryTellsOfInWordsIsAResource) {
  // Parquet and zstd catch a failed allocation and say so in a status of another kind.
  EXPECT_EQ(FaultOf(arrow::Status::IOError("std::bad_alloc")), Fault::kResources);
  EXPECT_EQ(FaultOf(arrow::Status::IOError("ZSTD: not enough memory")),
            Fault::kResources);
  EXPECT_EQ(FaultOf(arrow::Status::OutOfMemory("malloc of 64")), Fault::kResources);
  EXPECT_EQ(FaultOf(arrow::Status::IOError("bad magic")), std::nullopt);
}

TEST(Error, AFaultThatIsKnownStays) {
  const auto damaged = arrow::Status::IOError("std::bad_alloc");
  const auto named = WithFault(damaged, Fault::kCorruption, "'part.parquet': ");
  EXPECT_EQ(FaultOf(named), Fault::kResources);
  EXPECT_EQ(named.message(), "'part.parquet': std::bad_alloc");
  const auto other = WithFault(InputError("rule"), Fault::kCorruption, "where: ");
  EXPECT_EQ(FaultOf(other), Fault::kInput);
  EXPECT_EQ(other.message(), "where: rule");
}

TEST(Error, WhatWasStoppedIsNobodysFault) {
  const auto stopped = arrow::Status::Cancelled("stop");
  EXPECT_TRUE(WithFault(stopped, Fault::kCorruption, "x: ").IsCancelled());
}

}  // namespace
}  // namespace coden
