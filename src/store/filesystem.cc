// S3 comes in two forms: built into Arrow's library, or, as in the pyarrow wheel, in a
// module of its own that lies beside it and has to be loaded. The module is looked up
// beside the library that this process runs with, so it is found wherever both are moved.

#include "coden/store/filesystem.h"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>
#include <utility>

#include <arrow/config.h>
#include <arrow/filesystem/filesystem.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"

namespace coden {

namespace {

constexpr std::string_view kSchemeEnd = "://";
constexpr std::string_view kLibrary = "libarrow";

// libarrow_s3.so.2600 beside libarrow.so.2600; empty where there is none.
std::filesystem::path S3Module() {
  Dl_info library;
  if (dladdr(&arrow::GetBuildInfo(), &library) == 0) return {};
  const std::filesystem::path path = library.dli_fname;
  std::string name = path.filename().string();
  if (!name.starts_with(kLibrary)) return {};
  const std::filesystem::path module =
      path.parent_path() / name.insert(kLibrary.size(), "_s3");
  std::error_code ignored;
  return std::filesystem::exists(module, ignored) ? module : std::filesystem::path();
}

arrow::Status LoadS3() {
  const std::filesystem::path module = S3Module();
  if (module.empty()) return arrow::Status::OK();
  const arrow::Status status = arrow::fs::LoadFileSystemFactories(module.c_str());
  // Registered already: this library has S3 built in.
  return status.IsKeyError() ? arrow::Status::OK() : status;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// Say in one line, without credentials, why `uri` was not opened.
arrow::Status NotOpened(const std::string& uri, const std::string& scheme,
                        const arrow::Status& status) {
  const std::string what = "cannot open '" + MaskCredentials(uri) + "': ";
  if (status.message().starts_with("Unrecognized filesystem type")) {
    return UsageError(what, "the Arrow library here has no storage called `", scheme,
                      "`; a URI begins with file, s3, gs, abfs or hdfs");
  }
  const std::string message = what + MaskCredentials(FirstLine(status.message()));
  // What Arrow calls invalid is the text of the URI; anything else happened out there.
  return status.IsInvalid() || status.IsNotImplemented() ? UsageError(message)
                                                         : status.WithMessage(message);
}

}  // namespace

arrow::Result<Location> OpenLocation(const std::string& path_or_uri) {
  const std::size_t scheme_end = path_or_uri.find(kSchemeEnd);
  const bool is_uri = scheme_end != std::string::npos;
  const std::string scheme = is_uri ? path_or_uri.substr(0, scheme_end) : std::string();
  if (scheme == "s3") {
    static const arrow::Status loaded = LoadS3();
    if (!loaded.ok()) {
      return UsageError("cannot load the S3 module of Arrow: ",
                        FirstLine(loaded.message()));
    }
  }
  std::string full = path_or_uri;
  if (!is_uri) {
    std::error_code failed;
    full = std::filesystem::absolute(path_or_uri, failed).string();
    if (failed) return UsageError("cannot open '", path_or_uri, "': ", failed.message());
  }
  Location location;
  auto filesystem = arrow::fs::FileSystemFromUriOrPath(full, &location.path);
  if (!filesystem.ok()) return NotOpened(path_or_uri, scheme, filesystem.status());
  location.filesystem = *std::move(filesystem);
  location.local = location.filesystem->type_name() == "local";
  return location;
}

void CloseFilesystems() { arrow::fs::EnsureFinalized(); }

}  // namespace coden
