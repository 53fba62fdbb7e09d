#pragma once

#include <memory>
#include <string>

#include <arrow/filesystem/type_fwd.h>
#include <arrow/result.h>

namespace coden {

/// Where a path or URI leads: a filesystem of Arrow and the path inside it.
struct Location {
  std::shared_ptr<arrow::fs::FileSystem> filesystem;
  std::string path;
  bool local = true;
};

/// Open the filesystem of a local path (absolute or relative to the working directory) or
/// of a URI (file, s3, gs, abfs...). Load Arrow's S3 module when it is first needed.
///
/// A URI that cannot be understood is a usage error; no message holds its credentials.
/// Nothing is read, but a cloud may be asked for the region of a bucket.
arrow::Result<Location> OpenLocation(const std::string& path_or_uri);

/// Let go of what OpenLocation has set up: the S3 client must be shut down before the
/// process ends. Call at the end of main, when no filesystem is in use; nothing can be
/// opened afterwards. A second call does nothing.
void CloseFilesystems();

}  // namespace coden
