#include <utility>

#include "coden/state/fingerprint.h"
#include "coden/state/saved_columns.h"
#include "coden/state/saved_work.h"
#include "coden/store/commit.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "pipeline/checkpointer_internal.h"

namespace coden {

Checkpointer::Checkpointer(RunStore& store, Manifest* manifest, const Schedule& schedule,
                           const RunProgress& progress,
                           const std::vector<SolveWork>& work, const Settings& settings)
    : store_(store),
      manifest_(manifest),
      schedule_(schedule),
      progress_(progress),
      earlier_work_(work),
      settings_(settings),
      interval_(settings.run.commit_interval) {}

arrow::Status Checkpointer::OnEmbedded(int snapshot, const Embedder& embedder) {
  const bool last = snapshot + 1 == static_cast<int>(schedule_.size());
  if (last || std::chrono::steady_clock::now() - last_ < interval_)
    return arrow::Status::OK();
  {
    const std::lock_guard lock(mutex_);
    if (tray_) return arrow::Status::OK();
  }
  Tray tray;
  tray.snapshot = snapshot;
  tray.columns = {0, embedder.engine().num_columns()};
  tray.engine = embedder.engine().Memory();
  tray.error_bounds = embedder.figures().error_bounds;
  tray.work = embedder.figures().work;
  ARROW_ASSIGN_OR_RAISE(tray.files.emplace_back(),
                        StageColumns(store_, embedder, tray.columns));
  const std::lock_guard lock(mutex_);
  tray_ = std::move(tray);
  last_ = std::chrono::steady_clock::now();
  return arrow::Status::OK();
}

arrow::Status Checkpointer::OnWritten(WrittenSnapshot written) {
  const int snapshot = written.snapshot;
  waiting_.push_back(std::move(written.file));
  schedule_[snapshot].base = written.base;
  errors_added_.push_back(written.error_added);
  std::optional<Tray> due;
  {
    const std::lock_guard lock(mutex_);
    // A state whose snapshot has gone by would keep its place for ever, and no other
    // would be committed.
    if (tray_ && tray_->snapshot < snapshot) {
      return arrow::Status::UnknownError(
          "the state after snapshot ", tray_->snapshot,
          " came after its file was written: a fault of the program");
    }
    if (!tray_ || tray_->snapshot != snapshot) return arrow::Status::OK();
    due = std::move(tray_);
  }
  RunProgress progress = progress_;
  progress.num_snapshots = snapshot + 1;
  progress.engine = std::move(due->engine);
  progress.column_files = {due->columns};
  for (std::size_t i = 0; i < due->error_bounds.size(); ++i)
    due->error_bounds[i] += errors_added_[i];
  Manifest next = *manifest_;
  PartRecord part = *next.Find(kEmbedPart);
  ARROW_RETURN_NOT_OK(Fill(snapshot + 1, due->error_bounds, due->work, progress,
                           std::move(due->files), &part));
  next.Replace(std::move(part));
  ARROW_RETURN_NOT_OK(CommitUnlessChanged(std::move(next)));
  // Only now the names in the stage are free for the next state.
  const std::lock_guard lock(mutex_);
  tray_.reset();
  return arrow::Status::OK();
}

arrow::Status Checkpointer::Finish(const EmbedPassResult& result, PartRecord part) {
  RunProgress progress = progress_;
  progress.num_snapshots = static_cast<int>(schedule_.size());
  progress.engine = result.engine;
  progress.column_files = result.column_files;
  part.files = manifest_->Find(kEmbedPart)->files;
  ARROW_RETURN_NOT_OK(Fill(progress.num_snapshots, result.error_bounds, result.work,
                           progress, result.state, &part));
  Manifest next = *manifest_;
  next.Replace(std::move(part));
  return CommitUnlessChanged(std::move(next));
}

arrow::Status Checkpointer::CommitUnlessChanged(Manifest next) {
  ARROW_RETURN_NOT_OK(CheckInputsStay(settings_, next.Find(kEmbedPart)->inputs));
  return Commit(store_, std::move(next), manifest_);
}

arrow::Status Checkpointer::Fill(int num_snapshots,
                                 const std::vector<double>& error_bounds,
                                 const std::vector<SolveWork>& work,
                                 const RunProgress& progress,
                                 std::vector<FileRecord> state, PartRecord* part) {
  for (std::size_t i = 0; i < error_bounds.size(); ++i)
    schedule_[progress_.num_snapshots + i].error_bound = error_bounds[i];
  const Schedule done(schedule_.begin(), schedule_.begin() + num_snapshots);
  ARROW_ASSIGN_OR_RAISE(const auto rows, ScheduleToBatch(done));
  ARROW_ASSIGN_OR_RAISE(state.emplace_back(),
                        StageParquetFile(store_, RunLayout::kSchedule, *rows));
  std::vector<SolveWork> all_work = earlier_work_;
  all_work.insert(all_work.end(), work.begin(), work.end());
  ARROW_ASSIGN_OR_RAISE(state.emplace_back(), StageWork(store_, all_work));
  ARROW_ASSIGN_OR_RAISE(state.emplace_back(),
                        store_.StageText(RunLayout::kProgress, ToJson(progress)));
  // Columns may be cut into other files than before.
  std::erase_if(part->files, [](const FileRecord& file) {
    return file.path.starts_with(std::string(RunLayout::kState) + "/columns-");
  });
  for (FileRecord& file : state) part->ReplaceFile(std::move(file));
  for (FileRecord& file : std::exchange(waiting_, {}))
    part->files.push_back(std::move(file));
  return arrow::Status::OK();
}

}  // namespace coden
