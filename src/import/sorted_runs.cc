// An external sort: rows are collected until they fill `run_bytes`, sorted and written as
// a run; runs are then merged, `most_runs` at a time.
//
// The merge works on blocks, with Arrow's own stable sort in place of a heap of rows. Of
// all (time, run) pairs that end the current blocks the smallest is the bound: rows up to
// it are in memory in full, so they are cut off every block, put together in the order of
// the runs and sorted. The block that gave the bound is used up, so every step reads a
// new one. Equal times keep the order of the runs, because the bound compares runs too.
//
// Knuth: The Art of Computer Programming, volume 3, section 5.4 (external sorting).

#include "import/sorted_runs_internal.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include <arrow/array.h>
#include <arrow/compute/api.h>
#include <arrow/compute/initialize.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/util/byte_size.h>

#include "store/private_file_internal.h"

namespace coden::importing {

namespace {

constexpr std::int64_t kBlockBytes = 256 << 10;

const arrow::Int64Array& TimesOf(const arrow::RecordBatch& batch) {
  return static_cast<const arrow::Int64Array&>(*batch.GetColumnByName("time"));
}

arrow::Result<BatchPtr> SortByTime(const BatchPtr& batch) {
  ARROW_ASSIGN_OR_RAISE(const auto order, arrow::compute::SortIndices(
                                              *batch->GetColumnByName("time"),
                                              arrow::compute::SortOrder::Ascending));
  ARROW_ASSIGN_OR_RAISE(const auto sorted, arrow::compute::Take(batch, order));
  return sorted.record_batch();
}

// Write batches to a temporary file in blocks of about kBlockBytes.
class RunWriter {
 public:
  explicit RunWriter(std::string path) : path_(std::move(path)) {}

  arrow::Status Write(const arrow::RecordBatch& batch) {
    if (batch.num_rows() == 0) return arrow::Status::OK();
    if (writer_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(file_, CreatePrivateFile(path_));
      ARROW_ASSIGN_OR_RAISE(writer_, arrow::ipc::MakeStreamWriter(file_, batch.schema()));
    }
    ARROW_ASSIGN_OR_RAISE(const std::int64_t bytes,
                          arrow::util::ReferencedBufferSize(batch));
    const std::int64_t rows = std::max<std::int64_t>(
        1, kBlockBytes * batch.num_rows() / std::max<std::int64_t>(1, bytes));
    for (std::int64_t begin = 0; begin < batch.num_rows(); begin += rows) {
      ARROW_RETURN_NOT_OK(writer_->WriteRecordBatch(*batch.Slice(begin, rows)));
    }
    return arrow::Status::OK();
  }

  arrow::Status Close() {
    ARROW_RETURN_NOT_OK(writer_->Close());
    return file_->Close();
  }

 private:
  std::string path_;
  std::shared_ptr<arrow::io::FileOutputStream> file_;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
};

// The rows of a run that are still to come, of which one block is in memory.
class RunCursor {
 public:
  static arrow::Result<RunCursor> Open(const std::string& path) {
    RunCursor cursor;
    ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
    ARROW_ASSIGN_OR_RAISE(cursor.reader_,
                          arrow::ipc::RecordBatchStreamReader::Open(std::move(file)));
    ARROW_RETURN_NOT_OK(cursor.Advance());
    return cursor;
  }

  /// Null at the end of the run.
  const BatchPtr& block() const { return block_; }

  std::int64_t last_time() const {
    return TimesOf(*block_).Value(block_->num_rows() - 1);
  }

  arrow::Status Advance() { return reader_->ReadNext(&block_); }

  /// Cut the rows with times up to `time` off the block.
  arrow::Result<BatchPtr> TakeUpTo(std::int64_t time) {
    const arrow::Int64Array& times = TimesOf(*block_);
    const std::int64_t* begin = times.raw_values();
    const std::int64_t count =
        std::upper_bound(begin, begin + times.length(), time) - begin;
    BatchPtr taken = block_->Slice(0, count);
    block_ = block_->Slice(count);
    if (block_->num_rows() == 0) ARROW_RETURN_NOT_OK(Advance());
    return taken;
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  BatchPtr block_;
};

arrow::Status Merge(const std::vector<std::string>& runs, const Emit& emit,
                    const RunContext& context) {
  std::vector<RunCursor> cursors;
  for (const std::string& run : runs) {
    ARROW_ASSIGN_OR_RAISE(cursors.emplace_back(), RunCursor::Open(run));
  }
  while (true) {
    ARROW_RETURN_NOT_OK(context.stop.Poll());
    std::erase_if(cursors, [](const RunCursor& run) { return run.block() == nullptr; });
    if (cursors.empty()) return arrow::Status::OK();
    // The first of the smallest: the order of the runs decides between equal times.
    const auto bound = std::min_element(cursors.begin(), cursors.end(),
                                        [](const RunCursor& a, const RunCursor& b) {
                                          return a.last_time() < b.last_time();
                                        });
    const std::int64_t time = bound->last_time();
    std::vector<BatchPtr> parts;
    for (auto cursor = cursors.begin(); cursor != cursors.end(); ++cursor) {
      // A later run waits with rows of this very time: the bound's run may have more.
      const bool earlier = cursor <= bound;
      if (!earlier && time == std::numeric_limits<std::int64_t>::min()) continue;
      ARROW_ASSIGN_OR_RAISE(parts.emplace_back(),
                            cursor->TakeUpTo(earlier ? time : time - 1));
    }
    ARROW_ASSIGN_OR_RAISE(const auto block, arrow::ConcatenateRecordBatches(parts));
    ARROW_ASSIGN_OR_RAISE(auto sorted, SortByTime(block));
    ARROW_RETURN_NOT_OK(emit(std::move(sorted)));
  }
}

arrow::Status Chain(const std::vector<std::string>& runs, const Emit& emit,
                    const RunContext& context) {
  for (const std::string& run : runs) {
    ARROW_ASSIGN_OR_RAISE(auto cursor, RunCursor::Open(run));
    for (; cursor.block() != nullptr;) {
      ARROW_RETURN_NOT_OK(context.stop.Poll());
      ARROW_RETURN_NOT_OK(emit(cursor.block()));
      ARROW_RETURN_NOT_OK(cursor.Advance());
    }
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::unique_ptr<SortedRuns>> SortedRuns::Make(SortedRunsOptions options) {
  ARROW_RETURN_NOT_OK(arrow::compute::Initialize());
  std::error_code ignored;
  std::filesystem::remove_all(options.folder, ignored);
  return std::unique_ptr<SortedRuns>(new SortedRuns(std::move(options)));
}

SortedRuns::~SortedRuns() {
  std::error_code ignored;
  std::filesystem::remove_all(options_.folder, ignored);
}

arrow::Status SortedRuns::Append(BatchPtr batch) {
  if (batch->num_rows() == 0) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const std::int64_t bytes,
                        arrow::util::ReferencedBufferSize(*batch));
  pending_bytes_ += bytes;
  pending_.push_back(std::move(batch));
  return pending_bytes_ < options_.run_bytes ? arrow::Status::OK() : Spill();
}

std::string SortedRuns::NewRun() {
  return options_.folder + "/run-" + std::to_string(num_files_++) + ".arrow";
}

arrow::Result<BatchPtr> SortedRuns::TakePending() {
  ARROW_ASSIGN_OR_RAISE(auto rows, arrow::ConcatenateRecordBatches(pending_));
  pending_.clear();
  pending_bytes_ = 0;
  return options_.order == RunOrder::kByTime ? SortByTime(rows) : rows;
}

arrow::Status SortedRuns::Spill() {
  std::error_code error;
  std::filesystem::create_directories(options_.folder, error);
  ARROW_ASSIGN_OR_RAISE(const auto rows, TakePending());
  runs_.push_back(NewRun());
  RunWriter writer(runs_.back());
  ARROW_RETURN_NOT_OK(writer.Write(*rows));
  return writer.Close();
}

// Replace runs by fewer until all can be merged at once. Groups are neighbours, so the
// order of equal times is kept.
arrow::Status SortedRuns::MergeGroups(const RunContext& context) {
  while (runs_.size() > options_.most_runs) {
    std::vector<std::string> merged;
    for (std::size_t begin = 0; begin < runs_.size(); begin += options_.most_runs) {
      const std::size_t end = std::min(runs_.size(), begin + options_.most_runs);
      const std::vector<std::string> group(runs_.begin() + begin, runs_.begin() + end);
      merged.push_back(NewRun());
      RunWriter writer(merged.back());
      ARROW_RETURN_NOT_OK(Merge(
          group, [&](const BatchPtr& batch) { return writer.Write(*batch); }, context));
      ARROW_RETURN_NOT_OK(writer.Close());
      std::error_code ignored;
      for (const std::string& run : group) std::filesystem::remove(run, ignored);
    }
    runs_ = std::move(merged);
  }
  return arrow::Status::OK();
}

arrow::Status SortedRuns::Drain(const Emit& emit, const RunContext& context) {
  if (runs_.empty()) {
    if (pending_.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto rows, TakePending());
    return emit(std::move(rows));
  }
  if (!pending_.empty()) ARROW_RETURN_NOT_OK(Spill());
  if (options_.order == RunOrder::kAsGiven) return Chain(runs_, emit, context);
  ARROW_RETURN_NOT_OK(MergeGroups(context));
  return Merge(runs_, emit, context);
}

}  // namespace coden::importing
