#pragma once

#include <optional>
#include <vector>

#include <arrow/result.h>

#include "coden/settings/settings.h"
#include "coden/store/manifest.h"
#include "coden/store/run_store.h"

namespace coden {

/// Write the settings that made the files of a run, without credentials, beside its
/// manifests: a pipeline file that gives the run again.
arrow::Status SaveSettings(RunStore& store, const Settings& settings);

/// The settings that SaveSettings wrote; nothing where a run was interrupted before it,
/// and a corruption error where they are damaged.
arrow::Result<std::optional<std::vector<IniSection>>> LoadSavedSettings(
    const RunStore& store);

/// The settings behind the files of a run: those that SaveSettings wrote, or `otherwise`
/// where there are none, and those of its training in the place of settings that a later
/// call has changed.
arrow::Result<std::vector<IniSection>> SettingsOfRun(
    const RunStore& store, const Manifest& manifest,
    std::vector<IniSection> otherwise = {});

/// Every setting with its value, without credentials.
std::vector<IniSection> ShownSettings(const Settings& settings);

}  // namespace coden
