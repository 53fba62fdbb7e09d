#pragma once

#include <string>

#include <arrow/result.h>
#include <gtest/gtest.h>

#include "coden/base/error.h"

// Statuses in tests.

#define CODEN_EXPECT_OK(expression)                            \
  do {                                                         \
    const ::arrow::Status coden_status = (expression);         \
    EXPECT_TRUE(coden_status.ok()) << coden_status.ToString(); \
  } while (false)

namespace coden {

inline const arrow::Status& StatusOf(const arrow::Status& status) { return status; }
template <typename T>
const arrow::Status& StatusOf(const arrow::Result<T>& result) {
  return result.status();
}

/// Expect an error of the input whose message is `message`.
template <typename Outcome>
void ExpectInputError(const Outcome& outcome, const std::string& message) {
  const arrow::Status& status = StatusOf(outcome);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message(), message);
  EXPECT_EQ(FaultOf(status), Fault::kInput);
}

/// Expect an error of the input whose message has `part` in it.
template <typename Outcome>
void ExpectInputErrorWith(const Outcome& outcome, const std::string& part) {
  const arrow::Status& status = StatusOf(outcome);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  EXPECT_EQ(FaultOf(status), Fault::kInput);
}

}  // namespace coden
