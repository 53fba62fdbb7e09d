#pragma once

#include "coden/store/run_store.h"

namespace coden {

/// A run in a local folder: files are synced and renamed.
std::shared_ptr<RunStore> MakeLocalRunStore(
    const std::string& directory, std::shared_ptr<arrow::fs::FileSystem> filesystem,
    const std::string& path);

/// A run in an object store: a file appears when it is closed, and moving is copying.
std::shared_ptr<RunStore> MakeObjectRunStore(
    const std::string& directory, std::shared_ptr<arrow::fs::FileSystem> filesystem,
    const std::string& path);

}  // namespace coden
