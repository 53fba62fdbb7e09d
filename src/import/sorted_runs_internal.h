#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/operator.h"
#include "coden/base/progress.h"

namespace coden::importing {

enum class RunOrder { kAsGiven, kByTime };

struct SortedRunsOptions {
  std::string folder;  ///< for temporary files; made when needed, removed at the end
  RunOrder order = RunOrder::kByTime;
  std::int64_t run_bytes = 32 << 20;  ///< rows that are held in memory before a file
  std::size_t most_runs = 32;         ///< files that are merged at once
};

/// Take rows and give them back later, in their order or stably sorted by the column
/// `time` (int64). Memory is bounded: what does not fit waits in temporary files.
class SortedRuns {
 public:
  /// What a killed import left in the folder is removed.
  static arrow::Result<std::unique_ptr<SortedRuns>> Make(SortedRunsOptions options);
  ~SortedRuns();

  /// All batches have one schema.
  arrow::Status Append(BatchPtr batch);

  /// Hand over all rows, once, after the last Append.
  arrow::Status Drain(const Emit& emit, const RunContext& context);

 private:
  explicit SortedRuns(SortedRunsOptions options) : options_(std::move(options)) {}

  std::string NewRun();
  arrow::Result<BatchPtr> TakePending();
  arrow::Status Spill();
  arrow::Status MergeGroups(const RunContext& context);

  SortedRunsOptions options_;
  std::vector<BatchPtr> pending_;
  std::int64_t pending_bytes_ = 0;
  std::vector<std::string> runs_;  // paths, in the order of their rows
  int num_files_ = 0;
};

}  // namespace coden::importing
