#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

#include <arrow/util/io_util.h>

#include <nlohmann/json.hpp>

#include "cli/console_internal.h"
#include "cli/exit_code_internal.h"
#include "coden/base/printable.h"

namespace coden {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr double kSecondsBetweenLines = 5.0;
constexpr double kSecondsBetweenDraws = 0.1;
constexpr char kErrorPrefix[] = "coden: error: ";

// The time in UTC as ISO 8601 has it, 2026-01-31T12:00:00Z. Takes no memory.
struct TimeText {
  TimeText() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  }
  char text[32];
};

std::string Clean(std::string_view text) {
  return Printable(MaskCredentials(std::string(text)), PrintableMode::kOneLine);
}

// An error without its middle where a file made it long: what is wrong comes first, and
// values last. `text` is printable, so bytes that go on a letter are all it takes to
// mind.
std::string Shortened(const std::string& text) {
  constexpr std::size_t kBytes = 640;
  constexpr std::size_t kLastBytes = 160;
  if (text.size() <= kBytes) return text;
  const auto goes_on = [&](std::size_t at) { return (text[at] & 0xC0) == 0x80; };
  std::size_t end = kBytes - kLastBytes;
  while (goes_on(end)) --end;
  std::size_t begin = text.size() - kLastBytes;
  while (goes_on(begin)) ++begin;
  return text.substr(0, end) + " ... " + text.substr(begin);
}

// The message with what the system said, and what to do next where the kind of error
// tells.
std::string Explain(const arrow::Status& status) {
  if (status.IsCancelled()) return "interrupted; run the same command again";
  std::string text = status.message();
  const int error_number = arrow::internal::ErrnoFromStatus(status);
  if (error_number != 0) text += ": " + std::string(std::strerror(error_number));
  if (error_number == ENOSPC || error_number == EDQUOT) {
    text += "; make room and run the same command again";
  }
  return Shortened(Clean(text));
}

std::string Seconds(double seconds) {
  if (seconds < 100.0)
    return FormatFixed(seconds, /*digits=*/seconds < 10.0 ? 1 : 0) + " s";
  const auto whole = static_cast<std::int64_t>(seconds);
  return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
}

// Keep the figures of the step that is under way.
class StepConsole : public Console {
 public:
  void Begin(std::string_view step, std::string_view unit, std::int64_t total) override {
    step_ = step;
    unit_ = unit;
    total_ = total;
    done_ = 0;
    said_.clear();
    start_ = shown_ = Clock::now();
    OnBegin();
  }

  void Say(std::string_view what) override { said_ = Clean(what); }

  void Advance(std::int64_t done) override {
    done_ = done;
    const auto now = Clock::now();
    if (std::chrono::duration<double>(now - shown_).count() < seconds_between_shows())
      return;
    shown_ = now;
    OnAdvance();
  }

  void End(std::string_view summary) override { OnEnd(Clean(summary)); }

 protected:
  virtual double seconds_between_shows() const = 0;
  virtual void OnBegin() = 0;
  virtual void OnAdvance() = 0;
  virtual void OnEnd(const std::string& summary) = 0;

  double elapsed() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  double rate() const { return static_cast<double>(done_) / std::max(elapsed(), 1e-9); }
  double seconds_left() const {
    return static_cast<double>(total_ - done_) / std::max(rate(), 1e-9);
  }
  double share() const {
    return total_ == 0
               ? 0.0
               : std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  }
  std::string Figures() const {
    std::string text = FormatCount(done_);
    if (total_ > 0) text += "/" + FormatCount(total_);
    text += " " + unit_ + ", " +
            (rate() < 10.0 ? FormatFixed(rate(), /*digits=*/1)
                           : FormatCount(static_cast<std::int64_t>(rate()))) +
            "/s";
    if (total_ > 0 && done_ > 0) text += ", " + Seconds(seconds_left()) + " left";
    if (!said_.empty()) text = said_ + ", " + text;
    return text;
  }

  std::string step_;
  std::string unit_;
  std::int64_t total_ = 0;
  std::int64_t done_ = 0;
  std::string said_;  // of the step, last

 private:
  Clock::time_point start_;
  Clock::time_point shown_;
};

class PlainConsole : public StepConsole {
 public:
  explicit PlainConsole(bool terminal) : terminal_(terminal) {}

  void Note(std::string_view message) override { Write("note: " + Clean(message)); }
  void Warn(std::string_view message) override { Write("warning: " + Clean(message)); }
  void Error(const arrow::Status& status) override {
    Write(std::string(kErrorPrefix) + Explain(status));
  }

 protected:
  double seconds_between_shows() const override { return kSecondsBetweenLines; }
  void OnBegin() override { Write(step_ + ": " + FormatCount(total_) + " " + unit_); }
  void OnAdvance() override {
    Write(step_ + ": " + FormatFixed(100.0 * share(), /*digits=*/0) + " %, " + Figures());
  }
  void OnEnd(const std::string& summary) override {
    Write(step_ + ": done in " + Seconds(elapsed()) + ": " + summary);
  }

 private:
  // In one call, so that processes that share standard error do not mix their lines.
  void Write(const std::string& line) const {
    const std::string whole =
        (terminal_ ? std::string() : std::string(TimeText().text) + " ") + line + "\n";
    std::fputs(whole.c_str(), stderr);
  }

  bool terminal_;
};

class TerminalConsole : public PlainConsole {
 public:
  TerminalConsole() : PlainConsole(/*terminal=*/true) {}

  void Note(std::string_view message) override {
    Erase();
    PlainConsole::Note(message);
  }
  void Warn(std::string_view message) override {
    Erase();
    PlainConsole::Warn(message);
  }
  void Error(const arrow::Status& status) override {
    Erase();
    PlainConsole::Error(status);
  }

 protected:
  double seconds_between_shows() const override { return kSecondsBetweenDraws; }
  void OnBegin() override { Draw(); }
  void OnAdvance() override { Draw(); }
  void OnEnd(const std::string& summary) override {
    Erase();
    PlainConsole::OnEnd(summary);
  }

 private:
  static void Erase() { std::fputs("\r\033[K", stderr); }

  static std::size_t Width() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                             : 80;
  }

  void Draw() const {
    constexpr int kCells = 24;
    const int full = static_cast<int>(share() * kCells);
    std::string line = step_ + " [" + std::string(full, '#') +
                       std::string(kCells - full, '.') + "] " + Figures();
    if (line.size() >= Width()) line.resize(Width() - 1);
    Erase();
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
  }
};

class JsonConsole : public StepConsole {
 public:
  explicit JsonConsole(bool quiet) : quiet_(quiet) {}

  void Note(std::string_view message) override {
    Tell({{"event", "note"}, {"message", Clean(message)}});
  }
  void Warn(std::string_view message) override {
    Tell({{"event", "note"}, {"message", Clean(message)}}, "warning");
  }
  void Error(const arrow::Status& status) override {
    Write("error", {{"exit_code", ExitCodeOf(status)}, {"message", Explain(status)}});
  }

 protected:
  double seconds_between_shows() const override { return kSecondsBetweenLines; }
  void OnBegin() override {
    Tell({{"event", "begin"}, {"step", step_}, {"unit", unit_}, {"total", total_}});
  }
  void OnAdvance() override {
    Json line = {
        {"event", "advance"}, {"step", step_}, {"done", done_}, {"total", total_}};
    if (!said_.empty()) line["said"] = said_;
    Tell(line);
  }
  void OnEnd(const std::string& summary) override {
    Tell({{"event", "end"},
          {"step", step_},
          {"seconds", elapsed()},
          {"summary", summary}});
  }

 private:
  void Tell(const Json& what, std::string_view level = "info") const {
    if (!quiet_) Write(level, what);
  }
  static void Write(std::string_view level, const Json& what) {
    Json line = {{"time", std::string(TimeText().text)}, {"level", level}};
    line.update(what);
    std::fputs((line.dump() + "\n").c_str(), stderr);
  }

  bool quiet_;
};

// Errors only.
class QuietConsole : public PlainConsole {
 public:
  using PlainConsole::PlainConsole;

  void Note(std::string_view) override {}
  void Warn(std::string_view) override {}

 protected:
  void OnBegin() override {}
  void OnAdvance() override {}
  void OnEnd(const std::string&) override {}
};

}  // namespace

std::unique_ptr<Console> Console::Make(LogFormat format, bool quiet) {
  if (format == LogFormat::kJson) return std::make_unique<JsonConsole>(quiet);
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  if (quiet) return std::make_unique<QuietConsole>(terminal);
  if (terminal) return std::make_unique<TerminalConsole>();
  return std::make_unique<PlainConsole>(terminal);
}

void WriteErrorWithoutMemory(LogFormat format, int exit_code, const char* message) {
  const TimeText time;
  if (format == LogFormat::kText) {
    std::fprintf(stderr, "%s %s%s\n", time.text, kErrorPrefix, message);
    return;
  }
  std::fprintf(stderr,
               "{\"time\":\"%s\",\"level\":\"error\",\"exit_code\":%d,\"message\":\"",
               time.text, exit_code);
  for (const char* letter = message; *letter != 0; ++letter) {
    const bool plain =
        *letter >= ' ' && *letter <= '~' && *letter != '"' && *letter != '\\';
    std::fputc(plain ? *letter : ' ', stderr);
  }
  std::fputs("\"}\n", stderr);
}

}  // namespace coden
