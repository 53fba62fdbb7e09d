// Preloaded into the program (LD_PRELOAD) to end it, as a power cut or the kernel would,
// at a named point of its commits: just before or after the n-th call of a system
// function.
//
//     CODEN_KILL_AT=rename:3:after   kill -9 when the third rename has returned
//     CODEN_KILL_AT=count:FILE       write to FILE how often each function was called

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum Function { kWrite, kFsync, kLink, kRename, kUnlink, kMkdir, kNumFunctions };
constexpr const char* kNames[kNumFunctions] = {"write",  "fsync",  "link",
                                               "rename", "remove", "mkdir"};

std::atomic<int> calls[kNumFunctions];

void Reach(Function function, int call, const char* side) {
  const char* const point = std::getenv("CODEN_KILL_AT");
  if (point == nullptr) return;
  char here[64];
  std::snprintf(here, sizeof(here), "%s:%d:%s", kNames[function], call, side);
  if (std::strcmp(here, point) == 0) ::raise(SIGKILL);
}

template <Function function, typename Real, typename... Args>
auto Call(Args... args) {
  static const Real real = reinterpret_cast<Real>(::dlsym(RTLD_NEXT, kNames[function]));
  const int call = ++calls[function];
  Reach(function, call, "before");
  const auto result = real(args...);
  Reach(function, call, "after");
  return result;
}

struct Census {
  ~Census() {
    const char* const point = std::getenv("CODEN_KILL_AT");
    if (point == nullptr || std::strncmp(point, "count:", 6) != 0) return;
    std::FILE* const file = std::fopen(point + 6, "w");
    if (file == nullptr) return;
    for (int i = 0; i < kNumFunctions; ++i)
      std::fprintf(file, "%s %d\n", kNames[i], calls[i].load());
    std::fclose(file);
  }
} census;

}  // namespace

extern "C" {

ssize_t write(int file, const void* data, std::size_t size) {
  return Call<kWrite, ssize_t (*)(int, const void*, std::size_t)>(file, data, size);
}
int fsync(int file) { return Call<kFsync, int (*)(int)>(file); }
int link(const char* from, const char* to) noexcept {
  return Call<kLink, int (*)(const char*, const char*)>(from, to);
}
int rename(const char* from, const char* to) noexcept {
  return Call<kRename, int (*)(const char*, const char*)>(from, to);
}
int remove(const char* path) noexcept {
  return Call<kUnlink, int (*)(const char*)>(path);
}
int mkdir(const char* path, mode_t mode) noexcept {
  return Call<kMkdir, int (*)(const char*, mode_t)>(path, mode);
}

}  // extern "C"
