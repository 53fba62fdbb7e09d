#pragma once

#include <string>

#include <arrow/result.h>

#include "coden/pipeline/settings.h"
#include "coden/store/manifest.h"

namespace coden {

/// What a run ends with on standard output: its scores, or its stages where it was not
/// trained or `with_scores` is false.
arrow::Result<std::string> RunResults(const Settings& settings, const Manifest& manifest,
                                      bool with_scores);

}  // namespace coden
