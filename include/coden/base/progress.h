#pragma once

#include <cstdint>
#include <string_view>

#include <arrow/util/cancel.h>

namespace coden {

/// Receive what a run has to say while it works. The library never prints; the command
/// line turns these calls into a bar, plain lines or JSON.
///
/// All calls come from the thread that runs the pipeline.
class Progress {
 public:
  virtual ~Progress() = default;
  /// Start a step of `total` units (0 where it is not known).
  virtual void Begin(std::string_view step, std::string_view unit,
                     std::int64_t total) = 0;
  /// Say how many units of the step are done, in all.
  virtual void Advance(std::int64_t done) = 0;
  /// Say how the step goes, such as a loss; shown with the next Advance.
  virtual void Say(std::string_view) {}
  /// Close the step with one line about what came of it.
  virtual void End(std::string_view summary) = 0;
  /// Say something worth knowing outside any step: rows dropped, a stage skipped.
  virtual void Note(std::string_view message) = 0;
  /// Say something that is probably not what was meant: ids that hardly match, times in
  /// another unit, rows that are dropped.
  virtual void Warn(std::string_view message) { Note(message); }
};

/// Drop everything: the progress of a library call whose caller does not watch.
class SilentProgress : public Progress {
 public:
  void Begin(std::string_view, std::string_view, std::int64_t) override {}
  void Advance(std::int64_t) override {}
  void End(std::string_view) override {}
  void Note(std::string_view) override {}
};

/// What every long call takes: where to report, and when to stop early.
struct RunContext {
  Progress* progress;
  arrow::StopToken stop = arrow::StopToken::Unstoppable();
};

}  // namespace coden
