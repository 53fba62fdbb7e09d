#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>

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

/// A run that is gone with the object: for a plan, which leaves nothing.
arrow::Result<std::shared_ptr<RunStore>> MakeMemoryRunStore();

}  // namespace coden
