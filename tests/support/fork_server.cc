// Load into the program by LD_PRELOAD: the program then starts once, and each request on
// its standard input runs its main() in a process forked from there. What is tested is
// the program as it is, without the time that loading its libraries takes.
//
// A request is its length (32 bits) and strings that end with NUL: the files for standard
// output and error, seconds until the process is ended by SIGALRM, then the arguments.
// The answer is a line: wait status, seconds, processor seconds, largest memory in kB.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

Main program_main = nullptr;

bool ReadAll(void* data, std::size_t size) {
  auto* place = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t count = ::read(STDIN_FILENO, place, size);
    if (count <= 0) return false;
    place += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

void Redirect(const char* path, int descriptor, int flags) {
  const int file = ::open(path, flags, 0600);
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(125);
  ::close(file);
}

[[noreturn]] void RunProgram(std::vector<char*> strings, char** environment) {
  Redirect("/dev/null", STDIN_FILENO, O_RDONLY);
  Redirect(strings[0], STDOUT_FILENO, O_WRONLY | O_CREAT | O_TRUNC);
  Redirect(strings[1], STDERR_FILENO, O_WRONLY | O_CREAT | O_TRUNC);
  ::alarm(static_cast<unsigned>(std::atoi(strings[2])));
  const int count = static_cast<int>(strings.size()) - 3;
  strings.push_back(nullptr);
  const int code = program_main(count, strings.data() + 3, environment);
  // Destructors of the libraries take twenty times as long as most calls.
  std::fflush(nullptr);
  ::_exit(code);
}

void Answer(int status, double seconds, const rusage& usage) {
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  char line[128];
  const int size =
      std::snprintf(line, sizeof(line), "%d %.6f %.6f %ld\n", status, seconds,
                    of(usage.ru_utime) + of(usage.ru_stime), usage.ru_maxrss);
  if (::write(STDOUT_FILENO, line, static_cast<std::size_t>(size)) != size) std::exit(1);
}

int Serve(int, char**, char** environment) {
  std::uint32_t size = 0;
  while (ReadAll(&size, sizeof(size))) {
    std::string request(size, '\0');
    if (!ReadAll(request.data(), size)) return 1;
    std::vector<char*> strings;
    for (std::size_t begin = 0; begin < size; begin = request.find('\0', begin) + 1)
      strings.push_back(request.data() + begin);
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child < 0) return 1;
    if (child == 0) RunProgram(strings, environment);
    int status = 0;
    rusage usage{};
    if (::wait4(child, &status, 0, &usage) != child) return 1;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    Answer(status, taken.count(), usage);
  }
  return 0;
}

}  // namespace

extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(),
                                 void (*fini)(), void (*rtld_fini)(), void* stack_end) {
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  // Processes that the program starts by itself are no servers.
  ::unsetenv("LD_PRELOAD");
  program_main = main;
  return start(&Serve, argc, argv, init, fini, rtld_fini, stack_end);
}
