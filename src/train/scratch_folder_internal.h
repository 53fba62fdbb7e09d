#pragma once

#include <string>

#include "coden/store/run_store.h"

namespace coden {

/// Where temporary files go: the run's stage, which the next run clears, or the local
/// disk where the run is elsewhere.
std::string ScratchFolder(const RunStore& store);

}  // namespace coden
