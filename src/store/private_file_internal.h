#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

#include <arrow/io/file.h>
#include <arrow/result.h>
#include <arrow/util/io_util.h>

namespace coden {

/// Start a temporary file that nobody else may read, in the place of one that is there.
/// What a link of that name leads to is left alone.
inline arrow::Result<std::shared_ptr<arrow::io::FileOutputStream>> CreatePrivateFile(
    const std::string& path) {
  ::unlink(path.c_str());
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) {
    return arrow::internal::IOErrorFromErrno(errno, "cannot create '", path, "'");
  }
  return arrow::io::FileOutputStream::Open(descriptor);
}

}  // namespace coden
