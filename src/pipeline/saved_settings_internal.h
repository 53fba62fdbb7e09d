#pragma once

#include <optional>
#include <string>

#include <arrow/result.h>

#include "coden/pipeline/settings.h"
#include "coden/store/run_store.h"

namespace coden {

/// Write the settings that made the files of a run, without credentials, beside its
/// manifests: a pipeline file that gives the run again.
arrow::Status SaveSettings(RunStore& store, const Settings& settings);

/// The text that SaveSettings wrote; nothing where a run was interrupted before it, and a
/// corruption error where it is damaged.
arrow::Result<std::optional<std::string>> LoadSavedSettings(const RunStore& store);

}  // namespace coden
