#include "coden/pipeline/committed_run.h"

#include <algorithm>
#include <utility>

#include <arrow/table.h>

#include "coden/pipeline/error.h"
#include "coden/pipeline/fingerprint.h"
#include "coden/pipeline/runner.h"
#include "coden/store/manifest.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"

namespace coden {

namespace {

// Replays can be interrupted between two batches.
constexpr std::int64_t kReplayBatchRows = 4096;

// The rows of some segments of a log, one behind the other.
class SegmentReader : public arrow::RecordBatchReader {
 public:
  SegmentReader(const EdgeLog& log, std::int64_t batch_rows, std::vector<LogSegment> rest)
      : log_(log), batch_rows_(batch_rows), segments_(std::move(rest)) {}

  arrow::Status Open() { return OpenNext(); }

  std::shared_ptr<arrow::Schema> schema() const override { return current_->schema(); }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    while (true) {
      ARROW_RETURN_NOT_OK(current_->ReadNext(batch));
      if (*batch != nullptr || next_ == segments_.size()) return arrow::Status::OK();
      ARROW_RETURN_NOT_OK(OpenNext());
    }
  }

 private:
  arrow::Status OpenNext() {
    const LogSegment none;
    const LogSegment& segment = segments_.empty() ? none : segments_[next_++];
    return log_.Scan(batch_rows_, segment.first_row, segment.end_row()).Value(&current_);
  }

  const EdgeLog& log_;
  std::int64_t batch_rows_;
  std::vector<LogSegment> segments_;
  std::size_t next_ = 0;
  std::shared_ptr<arrow::RecordBatchReader> current_;
};

}  // namespace

arrow::Result<CommittedRun> CommittedRun::Open(const Settings& settings,
                                               const RunStore& store) {
  CommittedRun run;
  ARROW_ASSIGN_OR_RAISE(const auto manifest, LoadManifest(store));
  const PartRecord* part = manifest ? manifest->Find(kEmbedPart) : nullptr;
  if (part == nullptr) {
    return NotInRun(store, "embedding", "`coden run` or `coden embed`");
  }
  ARROW_ASSIGN_OR_RAISE(const std::string text, store.ReadText(RunLayout::kProgress));
  ARROW_ASSIGN_OR_RAISE(run.progress,
                        ProgressFromJson(text, store.Show(RunLayout::kProgress)));
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, RunLayout::kSchedule));
  ARROW_ASSIGN_OR_RAISE(run.schedule, ScheduleFromTable(*table));
  const EarlierRun earlier{store, run.progress, EdgeFiles(part->inputs)};
  ARROW_ASSIGN_OR_RAISE(run.inputs, RunInputs::Open(settings, &earlier));
  run.inputs.nodes->Freeze();
  return run;
}

arrow::Status CommittedRun::Replay(const Settings& settings,
                                   std::span<Operator* const> stages,
                                   const RunContext& context, std::int64_t num_events) {
  std::vector<LogSegment> rest;
  for (LogSegment segment : progress.log) {
    const std::int64_t done =
        std::clamp<std::int64_t>(num_events - segment.first_event, 0, segment.num_events);
    segment.first_row += done;
    segment.num_events -= done;
    if (segment.num_events > 0) rest.push_back(segment);
  }
  EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes,
                     inputs.log.num_before + (rest.empty() ? 0 : rest[0].first_row));
  SegmentReader rows(inputs.log, kReplayBatchRows, std::move(rest));
  ARROW_RETURN_NOT_OK(rows.Open());
  std::vector<Operator*> all = {&reader};
  all.insert(all.end(), stages.begin(), stages.end());
  const auto discard = [](const BatchPtr&) { return arrow::Status::OK(); };
  return Run(rows, all, discard, context, {.read_ahead_of = 1}).status();
}

}  // namespace coden
