// The training stage, loaded when a command needs it.
//
// The library stands beside the program in a build directory, and in the installed tree
// where CODEN_MODULE_FOLDER says, relative to the program.

#include "cli/train_module_internal.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "coden/base/error.h"

namespace coden {

namespace {

namespace fs = std::filesystem;

// Empty where there is none.
fs::path FindModule() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path folder = program.parent_path();
  for (const fs::path& candidate :
       {folder / kTrainModuleFile, folder / CODEN_MODULE_FOLDER / kTrainModuleFile}) {
    if (fs::exists(candidate, error)) return candidate;
  }
  return {};
}

arrow::Result<const TrainModule*> Open() {
  const fs::path path = FindModule();
  if (path.empty()) {
    return arrow::Status::NotImplemented(
        "this build of coden has no training stage: ", kTrainModuleFile,
        " is not beside the program; build it with LibTorch (-Dtrain=enabled)");
  }
  // Never closed: LibTorch does not survive that.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* text = dlerror();
    const std::string reason = text == nullptr ? "unknown reason" : text;
    if (reason.find("annot allocate memory") != std::string::npos)
      return arrow::Status::OutOfMemory("not enough memory to load LibTorch");
    return arrow::Status::Invalid(
        "training needs LibTorch, which cannot be loaded; install torch 2.13.0: ",
        reason);
  }
  const auto* module =
      static_cast<const TrainModule*>(dlsym(library, kTrainModuleSymbol));
  if (module == nullptr) {
    return arrow::Status::Invalid("the training stage is not of this program: '",
                                  path.string(), "'");
  }
  return module;
}

}  // namespace

bool HasTrainModule() { return !FindModule().empty(); }

arrow::Result<const TrainModule*> LoadTrainModule() {
  static const TrainModule* loaded = nullptr;
  if (loaded == nullptr) {
    ARROW_ASSIGN_OR_RAISE(loaded, Open());
  }
  return loaded;
}

}  // namespace coden
