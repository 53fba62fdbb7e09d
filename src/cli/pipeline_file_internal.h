#pragma once

#include <string>

#include <arrow/status.h>

#include "coden/pipeline/settings.h"

namespace coden {

/// Set what the pipeline file at `path` says. `${NAME}` in a value stands for an
/// environment variable. Errors name the file.
arrow::Status ReadPipelineFile(const std::string& path, Settings* settings);

}  // namespace coden
