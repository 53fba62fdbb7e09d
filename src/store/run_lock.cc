#include "coden/store/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include <arrow/util/io_util.h>

#include "coden/base/error.h"
#include "coden/store/run_layout.h"

namespace coden {

arrow::Result<std::unique_ptr<RunLock>> RunLock::Take(const RunStore& store) {
  // An object store has no locks; that a run there has one writer is up to the user.
  if (!store.local()) return nullptr;
  const std::string path = store.LocalPath(RunLayout::kLock);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0664);
  if (descriptor < 0) {
    return arrow::internal::IOErrorFromErrno(errno, "cannot open '", path, "'");
  }
  std::unique_ptr<RunLock> lock(new RunLock(descriptor));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return arrow::internal::IOErrorFromErrno(errno, "cannot lock '", path, "'");
    }
    return UnavailableError("another process is writing to '", store.Show(),
                            "'; wait for it, or choose another `run.directory`");
  }
  return lock;
}

RunLock::~RunLock() { ::close(descriptor_); }

}  // namespace coden
