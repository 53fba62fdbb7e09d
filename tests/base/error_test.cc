#include "coden/base/error.h"

#include <cerrno>

#include <arrow/util/io_util.h>

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

TEST(Error, AStoreOutOfReachIsWorthAnotherTry) {
  // As Arrow passes on what the AWS client says.
  const auto unreachable = arrow::Status::IOError(
      "When getting information for key 'a' in bucket 'b': AWS Error NETWORK_CONNECTION "
      "during HeadObject operation: curlCode: 7, Couldn't connect to server");
  EXPECT_EQ(FaultOf(unreachable), Fault::kUnavailable);
  EXPECT_EQ(FaultOf(WithFault(unreachable, Fault::kInput, "cannot read 's3://b/a': ")),
            Fault::kUnavailable);
  EXPECT_EQ(FaultOf(arrow::Status::IOError("AWS Error SLOW_DOWN during PutObject")),
            Fault::kUnavailable);
  EXPECT_EQ(FaultOf(arrow::internal::IOErrorFromErrno(ETIMEDOUT, "cannot connect")),
            Fault::kUnavailable);
  // Another try does not help where access is denied, or where a file says so.
  EXPECT_EQ(FaultOf(arrow::Status::IOError("AWS Error ACCESS_DENIED during PutObject")),
            std::nullopt);
  EXPECT_EQ(FaultOf(InputError("column 'AWS Error SLOW_DOWN'")), Fault::kInput);
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
