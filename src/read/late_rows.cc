#include "coden/read/late_rows.h"

namespace coden {

std::int64_t LateRows::Mark(std::span<const EventTime> times, std::vector<bool>* late) {
  late->assign(times.size(), false);
  std::int64_t count = 0;
  for (std::size_t row = 0; row < times.size(); ++row) {
    if (times[row] < 0) continue;
    if (times[row] < earliest_) {
      (*late)[row] = true;
      ++count;
    } else {
      earliest_ = times[row];
    }
  }
  return count;
}

}  // namespace coden
