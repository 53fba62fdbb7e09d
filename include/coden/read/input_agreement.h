#pragma once

#include <arrow/status.h>

#include "coden/settings/graph_options.h"
#include "coden/settings/input_options.h"

namespace coden {

/// Check that labels and feature updates fit the edge log: ids of the same kind, times of
/// the same unit. Reads footers only.
arrow::Status CheckInputsAgree(const InputOptions& input, EventMode events);

}  // namespace coden
