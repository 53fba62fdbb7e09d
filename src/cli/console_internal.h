#pragma once

#include <memory>
#include <string_view>

#include <arrow/status.h>

#include "coden/base/progress.h"

namespace coden {

enum class LogFormat { kText, kJson };

/// Standard error: progress, notes and the one error line. On a terminal a step is a bar
/// that redraws itself; elsewhere it is a line when it begins, one every few seconds and
/// one when it ends, each after its time in UTC. With kJson every line is an object with
/// time and level.
class Console : public Progress {
 public:
  static std::unique_ptr<Console> Make(LogFormat format, bool quiet);
  /// Say what went wrong, as the last thing.
  virtual void Error(const arrow::Status& status) = 0;
};

/// Write the error line where there may be no memory left.
void WriteErrorWithoutMemory(LogFormat format, int exit_code, const char* message);

}  // namespace coden
