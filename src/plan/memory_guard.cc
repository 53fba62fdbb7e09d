#include "plan/memory_guard_internal.h"

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/plan/resources.h"

namespace coden {

arrow::Status MemoryGuard::Push(BatchPtr batch, const Emit& emit) {
  const std::int64_t limit = MemoryLimit(settings_);
  const std::int64_t needed = ResidentMemory() + growth_(batch->num_rows());
  if (needed > limit) {
    return ResourceError(
        "reading the log needs about ", needed / 1'000'000, " MB of memory after ", rows_,
        " of ", CountOf(num_rows_, "rows"), ", and embedding it more; ",
        settings_.run.memory_limit > 0 ? "raise `run.memory_limit`: "
                                       : "take a larger machine, this one has: ",
        limit / 1'000'000, " MB");
  }
  rows_ += batch->num_rows();
  return emit(std::move(batch));
}

}  // namespace coden
