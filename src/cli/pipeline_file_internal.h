#pragma once

#include <string>

#include <arrow/status.h>

#include "coden/pipeline/settings.h"

namespace coden {

/// Set what the pipeline file at `path` says (coden/pipeline/ini_text.h). `${NAME}` in a
/// value stands for an environment variable, except in single quotes. Errors name the
/// file and the line.
arrow::Status ReadPipelineFile(const std::string& path, Settings* settings);

}  // namespace coden
