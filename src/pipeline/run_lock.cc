#include "coden/pipeline/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include <arrow/util/io_util.h>

namespace coden {

arrow::Result<std::unique_ptr<RunLock>> RunLock::Take(const RunLayout& layout) {
  const std::string path = layout.Path(RunLayout::kLock);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return arrow::internal::IOErrorFromErrno(errno, "cannot open '", path, "'");
  }
  std::unique_ptr<RunLock> lock(new RunLock(descriptor));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    return arrow::Status::Invalid("another process is writing to '", layout.directory,
                                  "'; wait for it, or choose another `run.directory`");
  }
  return lock;
}

RunLock::~RunLock() { ::close(descriptor_); }

}  // namespace coden
