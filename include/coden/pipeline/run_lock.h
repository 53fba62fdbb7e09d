#pragma once

#include <memory>

#include <arrow/result.h>

#include "coden/pipeline/run_layout.h"

namespace coden {

/// Hold a run directory for one writer. The lock ends with the object, or with the
/// process however it ends, so a killed run never leaves a directory locked.
class RunLock {
 public:
  /// Take the lock of `layout`, whose `_coden` folder must exist. Fails at once where
  /// another process holds it.
  static arrow::Result<std::unique_ptr<RunLock>> Take(const RunLayout& layout);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  explicit RunLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace coden
