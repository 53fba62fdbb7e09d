#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include <arrow/result.h>
#include <arrow/status.h>

#include "coden/base/error.h"

// What a fuzz target promises. libFuzzer and the replaying driver both take an abort as a
// finding.

namespace coden::fuzz {

[[noreturn]] inline void Fail(const char* file, int line, const std::string& what) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
  std::abort();
}

/// An error must say whose fault it is, in words.
inline bool IsPlain(const arrow::Status& status, Fault fault) {
  return FaultOf(status) == fault && !status.message().empty();
}

}  // namespace coden::fuzz

#define FUZZ_CHECK(condition, what) \
  ((condition) ? void() : coden::fuzz::Fail(__FILE__, __LINE__, (what)))

/// What the target itself does must work.
#define FUZZ_OK(status)                                   \
  do {                                                    \
    const arrow::Status fuzz_status = (status);           \
    FUZZ_CHECK(fuzz_status.ok(), fuzz_status.ToString()); \
  } while (false)
