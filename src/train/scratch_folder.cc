#include "train/scratch_folder_internal.h"

#include <filesystem>

#include "coden/store/run_layout.h"

namespace coden {

std::string ScratchFolder(const RunStore& store) {
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  if (failed) folder = "/tmp";
  if (store.local()) {
    folder = store.LocalPath(RunLayout::kStage);
    std::filesystem::create_directories(folder, failed);
  }
  return folder.string();
}

}  // namespace coden
