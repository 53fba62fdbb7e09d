#pragma once

#include <string_view>

#include <arrow/status.h>

#include "coden/base/error.h"
#include "coden/store/run_store.h"

namespace coden {

/// The error of a file of the state whose numbers do not fit the run. They lead into
/// memory, so they are not believed.
inline arrow::Status Damaged(const RunStore& store, std::string_view name) {
  return CorruptionError("'", store.Show(name),
                         "' is not the state of this run; rebuild it with --force");
}

}  // namespace coden
