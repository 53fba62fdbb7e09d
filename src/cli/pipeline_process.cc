#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include <arrow/util/io_util.h>
#include <nlohmann/json.hpp>

#include "cli/pipeline_process_internal.h"
#include "coden/base/error.h"

namespace coden {

namespace {

constexpr int kPollMilliseconds = 20;
constexpr int kCannotStart = 127;

// A pipeline file that is nowhere on disk: it may hold credentials, and goes with the
// last process that has it open.
class MemoryFile {
 public:
  static arrow::Result<MemoryFile> Write(const std::string& text) {
    // Not closed by exec: the child reads it.
    MemoryFile file(::memfd_create("coden-pipeline", 0));
    for (std::size_t done = 0; file.descriptor_ >= 0 && done < text.size();) {
      const ssize_t count =
          ::write(file.descriptor_, text.data() + done, text.size() - done);
      if (count < 0 && errno != EINTR)
        return arrow::internal::IOErrorFromErrno(errno, "cannot write a pipeline file");
      if (count > 0) done += static_cast<std::size_t>(count);
    }
    if (file.descriptor_ < 0)
      return arrow::internal::IOErrorFromErrno(errno, "cannot make a file in memory");
    return file;
  }

  MemoryFile(MemoryFile&& other) noexcept : descriptor_(-1) {
    std::swap(descriptor_, other.descriptor_);
  }
  MemoryFile& operator=(MemoryFile&&) = delete;
  ~MemoryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  explicit MemoryFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

// Pass on what a line of the JSON log says.
class LogReader {
 public:
  explicit LogReader(Progress& progress) : progress_(progress) {}

  void Read(std::string_view bytes) {
    rest_ += bytes;
    for (std::size_t end; (end = rest_.find('\n')) != std::string::npos;) {
      Line(rest_.substr(0, end));
      rest_.erase(0, end + 1);
    }
  }
  const std::string& error() const { return error_; }

 private:
  void Line(const std::string& line) {
    const auto object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) {
      if (!line.empty() && error_.empty()) error_ = line;
      return;
    }
    const auto text = [&](const char* key) {
      const auto found = object.find(key);
      return found != object.end() && found->is_string() ? found->get<std::string>()
                                                         : std::string();
    };
    const auto count = [&](const char* key) {
      const auto found = object.find(key);
      return found != object.end() && found->is_number() ? found->get<std::int64_t>() : 0;
    };
    const std::string event = text("event");
    if (event == "begin") progress_.Begin(text("step"), text("unit"), count("total"));
    if (event == "advance") {
      if (const std::string said = text("said"); !said.empty()) progress_.Say(said);
      progress_.Advance(count("done"));
    }
    if (event == "end") progress_.End(text("summary"));
    if (event == "note" && text("level") == "warning") {
      progress_.Warn(text("message"));
    } else if (event == "note") {
      progress_.Note(text("message"));
    }
    if (text("level") == "error") error_ = text("message");
  }

  Progress& progress_;
  std::string rest_;
  std::string error_;
};

arrow::Status FailureOf(int status, const std::string& error) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    return ResourceError(
        "the process of a cell was killed, perhaps because memory ran out: set ",
        "`run.memory_limit`, or run the suite again to go on");
  }
  if (WIFSIGNALED(status)) {
    return arrow::Status::Invalid("the process of a cell was ended by signal ",
                                  WTERMSIG(status), "; run the suite again to go on");
  }
  const int code = WEXITSTATUS(status);
  if (code == kCannotStart)
    return arrow::Status::Invalid("cannot start the process of a cell");
  if (code == 0) return arrow::Status::OK();
  if (code == 130 || code == 143) return arrow::Status::Cancelled("interrupted");
  const std::string message = error.empty() ? "the process of a cell failed" : error;
  const bool known = code >= static_cast<int>(Fault::kUsage) &&
                     code <= static_cast<int>(Fault::kHistory);
  return known ? MakeError(static_cast<Fault>(code), message)
               : arrow::Status::Invalid(message);
}

[[noreturn]] void BecomeChild(const std::vector<char*>& arguments, int log,
                              pid_t parent) {
  // Only calls that are safe after a fork of a process with threads.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotStart);  // it died before
  const int nowhere = ::open("/dev/null", O_RDWR);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execv("/proc/self/exe", arguments.data());
  ::_exit(kCannotStart);
}

}  // namespace

arrow::Result<ProcessUsage> RunPipelineProcess(const Settings& settings, Goal goal,
                                               const RunContext& context) {
  ARROW_ASSIGN_OR_RAISE(const MemoryFile pipeline, MemoryFile::Write(ToIni(settings)));
  std::vector<std::string> words = {
      "coden", goal == Goal::kEmbed ? "embed" : "train", pipeline.path(), "--log-format",
      "json",
      // A form of the suite's tables may not be one of theirs.
      "--format", "table"};
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return arrow::internal::IOErrorFromErrno(errno, "cannot open a pipe");
  const auto start = std::chrono::steady_clock::now();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) BecomeChild(arguments, ends[1], parent);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return arrow::internal::IOErrorFromErrno(errno, "cannot start a process");
  }
  LogReader log(*context.progress);
  ProcessUsage usage;
  bool open = true;
  bool asked = false;
  while (open) {
    pollfd wait{ends[0], POLLIN, 0};
    if (::poll(&wait, 1, kPollMilliseconds) > 0) {
      char bytes[4096];
      const ssize_t count = ::read(ends[0], bytes, sizeof(bytes));
      open = count > 0 || (count < 0 && errno == EINTR);
      if (count > 0) log.Read({bytes, static_cast<std::size_t>(count)});
    }
    if (!asked && context.stop.IsStopRequested()) {
      asked = true;
      ::kill(child, SIGTERM);
    }
  }
  ::close(ends[0]);
  int status = 0;
  rusage spent{};
  while (::wait4(child, &status, 0, &spent) < 0 && errno == EINTR) {
  }
  ARROW_RETURN_NOT_OK(context.stop.Poll());
  ARROW_RETURN_NOT_OK(FailureOf(status, log.error()));
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  usage.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  usage.cpu_seconds = seconds(spent.ru_utime) + seconds(spent.ru_stime);
  return usage;
}

}  // namespace coden
