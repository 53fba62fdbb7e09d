#pragma once

#include <arrow/status.h>

namespace coden {

/// The exit code that `status` leads to: 0 done, 1 failed, 2 usage, 3 input, 4 resources,
/// 5 corruption, 128 + n ended by signal n.
int ExitCodeOf(const arrow::Status& status);

}  // namespace coden
