#pragma once

#include <nlohmann/json.hpp>

#include "coden/store/file_record.h"

namespace coden {

nlohmann::json ToJson(const FileRecord& file);

/// Read it back. Throws as the library does, for the fence of the reader: also where a
/// name leads out of the run.
FileRecord FileFromJson(const nlohmann::json& value);

}  // namespace coden
