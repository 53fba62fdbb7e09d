#pragma once

#include <memory>

#include <arrow/result.h>

#include "coden/store/run_store.h"

namespace coden {

/// Hold a run directory for one writer. The lock ends with the object, or with the
/// process however it ends, so a killed run never leaves a directory locked.
class RunLock {
 public:
  /// Take the lock of `store`, which must be prepared. Fails at once where another
  /// process holds it. Null for an object store.
  static arrow::Result<std::unique_ptr<RunLock>> Take(const RunStore& store);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  explicit RunLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace coden
