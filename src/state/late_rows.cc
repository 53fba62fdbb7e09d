#include "coden/state/late_rows.h"

#include "coden/pipeline/error.h"
#include "coden/read/event_batch.h"

namespace coden {

LateRows::LateRows(LatePolicy policy, EventTime last_time, std::int64_t first_row,
                   std::string path)
    : policy_(policy),
      last_time_(last_time),
      first_row_(first_row),
      path_(std::move(path)) {}

arrow::Status LateRows::Push(BatchPtr batch, const Emit& emit) {
  const EventView events(*batch);
  std::int64_t num_late = 0;
  while (num_late < events.size() && events.time(num_late) <= last_time_) ++num_late;
  if (num_late > 0 && policy_ == LatePolicy::kRefuse) {
    return InputError("'", path_, "', row ", first_row_,
                      ": the row was added late: the run has already made its prediction "
                      "for time ",
                      last_time_,
                      "; drop and count such rows with `input.late = drop`, or rebuild "
                      "with --force (and, for a log that is to grow, "
                      "`partition.unfinished = wait`): ",
                      events.time(0));
  }
  num_dropped_ += num_late;
  if (num_late == 0) return emit(std::move(batch));
  return num_late == events.size() ? arrow::Status::OK() : emit(batch->Slice(num_late));
}

}  // namespace coden
