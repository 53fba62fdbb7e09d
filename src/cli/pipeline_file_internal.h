#pragma once

#include <map>
#include <string>

#include <arrow/status.h>

#include "coden/settings/settings.h"

namespace coden {

/// The settings that a pipeline file has set, by key, and where: `'p.ini', line 7: `.
using SettingPlaces = std::map<std::string, std::string, std::less<>>;

/// Set what the pipeline file at `path` says (coden/pipeline/ini_text.h), and note where
/// it says it. `${NAME}` in a value stands for an environment variable, except in single
/// quotes. Errors name the file and the line.
arrow::Status ReadPipelineFile(const std::string& path, Settings* settings,
                               SettingPlaces* places);

/// Put the place of the first setting that `status` names before its message, where it is
/// a usage error and a file has set one of them.
arrow::Status WithPlaceOfSetting(const arrow::Status& status,
                                 const SettingPlaces& places);

}  // namespace coden
