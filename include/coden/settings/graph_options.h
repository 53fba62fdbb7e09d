#pragma once

#include "coden/base/types.h"

namespace coden {

/// What a row of the edge log means.
enum class EventMode {
  kInsert,  ///< add the edge; a repeated edge is ignored and counted
  kToggle,  ///< add the edge if it is absent, delete it if it is present (the paper)
  kSigned,  ///< an `op` column says insert or delete
};

struct GraphOptions {
  EventMode events = EventMode::kInsert;
  bool directed = false;
  bool self_loops = false;
  bool lenient = false;
  EventTime window = 0;
};

}  // namespace coden
