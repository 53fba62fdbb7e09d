#include <csignal>

#include <arrow/util/io_util.h>

#include "cli/exit_code_internal.h"
#include "coden/base/error.h"

namespace coden {

int ExitCodeOf(const arrow::Status& status) {
  if (status.ok()) return 0;
  if (status.IsCancelled()) {
    const int signal = arrow::internal::SignalFromStatus(status);
    return 128 + (signal > 0 ? signal : SIGINT);
  }
  if (const auto fault = FaultOf(status)) return static_cast<int>(*fault);
  return 1;
}

}  // namespace coden
