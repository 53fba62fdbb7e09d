// Preloaded into the program (LD_PRELOAD): at the n-th call of a system function
// something happens to it.
//
//     CODEN_FAULT=rename:3:kill-after   kill -9 when the third rename has returned
//     CODEN_FAULT=write:7:ENOSPC        the seventh write fails; so with any other errno
//     CODEN_FAULT=read:2:short          the second read or write moves half of its bytes
//     CODEN_FAULT=read:2:shrink         the file is cut in half before it is read; also
//                                       `vanish`, which removes it, `garble`, which
//                                       overwrites its first half with zeros, and
//                                       `replace`, which puts the file NAME.new there
//     CODEN_FAULT=count:FILE            write to FILE how often each function was called
//
// CODEN_FAULT_FOLDER      count only what is done to files below it
// CODEN_FAULT_ALLOCATION  count allocations of at least so many bytes (4096)
// CODEN_FAULT_REPORT      a file that gets the call stack of the fault; without a fault
//                         there is none
//
// Only what happens inside main() counts, so that static objects and the loader do not.

// With 64-bit offsets asked for, `open` would be another name for `open64`; both are
// called by some library.
#undef _FILE_OFFSET_BITS

#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/fault_plan.h"

namespace {

using namespace fault;  // all of it is about one plan

std::atomic<long> calls[kNumFunctions];
std::atomic<bool> in_main = false;

constexpr int kMaxFiles = 4096;
std::atomic<bool> counted[kMaxFiles];  // by descriptor: opened below the folder

template <typename Real>
Real Next(const char* name) {
  return reinterpret_cast<Real>(::dlsym(RTLD_NEXT, name));
}

bool Counts(const char* path) {
  if (!in_main) return false;
  const std::size_t length = std::strlen(plan.folder);
  return length == 0 || (path != nullptr && std::strncmp(path, plan.folder, length) == 0);
}

bool Counts(int file) {
  return in_main && file >= 0 && file < kMaxFiles &&
         (counted[file] || plan.folder[0] == '\0');
}

void Report() {
  if (plan.report[0] == '\0') return;
  const int file = static_cast<int>(Next<int (*)(const char*, int, ...)>("open")(
      plan.report, O_WRONLY | O_CREAT | O_TRUNC, 0666));
  void* frames[64];
  ::backtrace_symbols_fd(frames, ::backtrace(frames, 64), file);
  Next<int (*)(int)>("close")(file);
}

// Count a call; whether it is the one that the plan names.
bool Reached(Function function) {
  if (++calls[function] != plan.call || plan.function != function) return false;
  in_main = false;  // what is done for the fault does not count
  Report();
  in_main = true;
  return true;
}

// Call `work`, or fail in its place with `failure` and the errno of the plan.
template <typename Result, typename Work>
Result Call(Function function, bool counts, Result failure, const Work& work) {
  if (!counts || !Reached(function)) return work();
  if (plan.effect == Effect::kKillBefore) ::raise(SIGKILL);
  if (plan.effect == Effect::kFail) {
    errno = plan.error;
    return failure;
  }
  const Result result = work();
  if (plan.effect == Effect::kKillAfter) ::raise(SIGKILL);
  return result;
}

// Do to the file what somebody else may do while it is read.
void Spoil(int file) {
  char link[64];
  char path[PATH_MAX] = {};
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  if (::readlink(link, path, sizeof(path) - 1) < 0) return;
  if (plan.effect == Effect::kVanish) {
    Next<int (*)(const char*)>("unlink")(path);
    return;
  }
  if (plan.effect == Effect::kReplace) {
    char replacement[PATH_MAX + 4];
    std::snprintf(replacement, sizeof(replacement), "%s.new", path);
    Next<int (*)(const char*, const char*)>("rename")(replacement, path);
    return;
  }
  const off_t half =
      ::lseek(Next<int (*)(const char*, int, ...)>("open")(path, O_RDONLY), 0, SEEK_END) /
      2;
  if (plan.effect == Effect::kShrink) {
    if (::truncate(path, half) != 0) ::abort();
    return;
  }
  const int output = Next<int (*)(const char*, int, ...)>("open")(path, O_WRONLY);
  for (off_t at = 0; at < half; ++at) {
    if (::pwrite(output, "", 1, at) != 1) ::abort();
  }
}

// A read or write; `work` takes how many bytes.
template <typename Work>
ssize_t Transfer(Function function, int file, std::size_t size, const Work& work) {
  if (!Counts(file)) return work(size);
  if (plan.effect == Effect::kFail || plan.effect == Effect::kKillBefore ||
      plan.effect == Effect::kKillAfter) {
    return Call<ssize_t>(function, true, -1, [&] { return work(size); });
  }
  if (!Reached(function)) return work(size);
  if (plan.effect == Effect::kShort) return work(size > 1 ? size / 2 : size);
  Spoil(file);
  return work(size);
}

template <typename Work>
int Open(bool counts, const Work& work) {
  const int file = Call<int>(kOpen, counts, -1, work);
  if (file >= 0 && file < kMaxFiles) counted[file] = counts;
  return file;
}

template <typename Work>
void* Allocate(std::size_t size, const Work& work) {
  return Call<void*>(kAllocate, in_main && size >= plan.allocation, nullptr, work);
}

mode_t ModeOf(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

void WriteCensus() {
  if (plan.census[0] == '\0') return;
  std::FILE* const file = std::fopen(plan.census, "w");
  if (file == nullptr) return;
  for (int i = 0; i < kNumFunctions; ++i) {
    std::fprintf(file, "%s %ld\n", kNames[i], calls[i].load());
  }
  std::fclose(file);
}

using Main = int (*)(int, char**, char**);
Main program_main;

int WatchedMain(int argc, char** argv, char** environment) {
  MakePlan();
  void* frame[1];
  ::backtrace(frame, 1);  // loads what it needs
  in_main = true;
  const int code = program_main(argc, argv, environment);
  in_main = false;
  WriteCensus();
  return code;
}

}  // namespace

#define CODEN_OPEN(name)                                                  \
  int name(const char* path, int flags, ...) {                            \
    static const auto real = Next<int (*)(const char*, int, ...)>(#name); \
    va_list arguments;                                                    \
    va_start(arguments, flags);                                           \
    const mode_t mode = ModeOf(flags, arguments);                         \
    va_end(arguments);                                                    \
    return Open(Counts(path), [&] { return real(path, flags, mode); });   \
  }
#define CODEN_STAT(name, File, Stat)                                           \
  int name(File file, struct Stat* to) noexcept {                              \
    static const auto real = Next<int (*)(File, struct Stat*)>(#name);         \
    return Call<int>(kStat, Counts(file), -1, [&] { return real(file, to); }); \
  }
// What libraries call that were linked with an older glibc.
#define CODEN_OLD_STAT(name, File, Stat, now) \
  int name(int, File file, struct Stat* to) noexcept { return now(file, to); }
#define CODEN_READDIR(name, entry)                               \
  entry* name(DIR* folder) {                                     \
    static const auto real = Next<entry* (*)(DIR*)>(#name);      \
    return Call<entry*>(kList, Counts(::dirfd(folder)), nullptr, \
                        [&] { return real(folder); });           \
  }

extern "C" {

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  program_main = main;
  return Next<int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*)>(
      "__libc_start_main")(WatchedMain, argc, argv, init, fini, loader_fini, stack_end);
}

CODEN_OPEN(open)
CODEN_OPEN(open64)

int openat(int folder, const char* path, int flags, ...) {
  static const auto real = Next<int (*)(int, const char*, int, ...)>("openat");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  const bool counts = Counts(path) || Counts(folder);
  return Open(counts, [&] { return real(folder, path, flags, mode); });
}

int mkostemp64(char* path, int flags) {
  static const auto real = Next<int (*)(char*, int)>("mkostemp64");
  return Open(Counts(path), [&] { return real(path, flags); });
}

ssize_t read(int file, void* data, std::size_t size) {
  static const auto real = Next<ssize_t (*)(int, void*, std::size_t)>("read");
  return Transfer(kRead, file, size, [&](std::size_t n) { return real(file, data, n); });
}
ssize_t pread(int file, void* data, std::size_t size, off_t at) {
  static const auto real = Next<ssize_t (*)(int, void*, std::size_t, off_t)>("pread");
  return Transfer(kRead, file, size,
                  [&](std::size_t n) { return real(file, data, n, at); });
}
ssize_t pread64(int file, void* data, std::size_t size, off64_t at) {
  return pread(file, data, size, at);
}
ssize_t write(int file, const void* data, std::size_t size) {
  static const auto real = Next<ssize_t (*)(int, const void*, std::size_t)>("write");
  return Transfer(kWrite, file, size, [&](std::size_t n) { return real(file, data, n); });
}

int fsync(int file) {
  static const auto real = Next<int (*)(int)>("fsync");
  return Call<int>(kFsync, Counts(file), -1, [&] { return real(file); });
}
int close(int file) {
  static const auto real = Next<int (*)(int)>("close");
  const bool counts = Counts(file);
  if (file >= 0 && file < kMaxFiles) counted[file] = false;
  // The descriptor is gone also where close reports an error.
  const int closed = real(file);
  return Call<int>(kClose, counts, -1, [&] { return closed; });
}
int link(const char* from, const char* to) noexcept {
  static const auto real = Next<int (*)(const char*, const char*)>("link");
  return Call<int>(kLink, Counts(to), -1, [&] { return real(from, to); });
}
int rename(const char* from, const char* to) noexcept {
  static const auto real = Next<int (*)(const char*, const char*)>("rename");
  return Call<int>(kRename, Counts(to), -1, [&] { return real(from, to); });
}
int remove(const char* path) noexcept {
  static const auto real = Next<int (*)(const char*)>("remove");
  return Call<int>(kRemove, Counts(path), -1, [&] { return real(path); });
}
int unlink(const char* path) noexcept {
  static const auto real = Next<int (*)(const char*)>("unlink");
  return Call<int>(kRemove, Counts(path), -1, [&] { return real(path); });
}
int mkdir(const char* path, mode_t mode) noexcept {
  static const auto real = Next<int (*)(const char*, mode_t)>("mkdir");
  return Call<int>(kMkdir, Counts(path), -1, [&] { return real(path, mode); });
}

CODEN_STAT(stat, const char*, stat)
CODEN_STAT(stat64, const char*, stat64)
CODEN_STAT(lstat, const char*, stat)
CODEN_STAT(lstat64, const char*, stat64)
CODEN_STAT(fstat, int, stat)
CODEN_STAT(fstat64, int, stat64)
CODEN_OLD_STAT(__xstat, const char*, stat, stat)
CODEN_OLD_STAT(__xstat64, const char*, stat64, stat64)
CODEN_OLD_STAT(__lxstat, const char*, stat, lstat)
CODEN_OLD_STAT(__lxstat64, const char*, stat64, lstat64)
CODEN_OLD_STAT(__fxstat, int, stat, fstat)
CODEN_OLD_STAT(__fxstat64, int, stat64, fstat64)

DIR* opendir(const char* path) {
  static const auto real = Next<DIR* (*)(const char*)>("opendir");
  const bool counts = Counts(path);
  DIR* const folder = Call<DIR*>(kList, counts, nullptr, [&] { return real(path); });
  if (folder != nullptr && ::dirfd(folder) < kMaxFiles) counted[::dirfd(folder)] = counts;
  return folder;
}
CODEN_READDIR(readdir, dirent)
CODEN_READDIR(readdir64, dirent64)

// glibc's own names for its allocator: nothing has to be looked up before it is needed.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  return Allocate(size, [&] { return __libc_malloc(size); });
}
void* calloc(std::size_t count, std::size_t size) {
  return Allocate(count * size, [&] { return __libc_calloc(count, size); });
}
void* realloc(void* memory, std::size_t size) {
  return Allocate(size, [&] { return __libc_realloc(memory, size); });
}
void* memalign(std::size_t alignment, std::size_t size) {
  return Allocate(size, [&] { return __libc_memalign(alignment, size); });
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

}  // extern "C"
