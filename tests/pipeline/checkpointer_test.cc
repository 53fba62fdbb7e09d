// Commits of an embedding while it runs: in which order the pass tells its observer of a
// snapshot, and what follows from that.

#include "pipeline/checkpointer_internal.h"

#include <condition_variable>
#include <mutex>

#include "pipeline/growing_run.h"
#include "pipeline/scheduled_run_internal.h"

namespace coden {
namespace {

// Hands everything on to a checkpointer.
class Relay : public EmbedObserver {
 public:
  explicit Relay(Checkpointer& checkpointer) : checkpointer_(checkpointer) {}

  arrow::Status OnEmbedded(int snapshot, const Embedder& embedder) override {
    return checkpointer_.OnEmbedded(snapshot, embedder);
  }
  arrow::Status OnWritten(WrittenSnapshot written) override {
    return checkpointer_.OnWritten(std::move(written));
  }

 protected:
  Checkpointer& checkpointer_;
};

// Remembers which snapshots had been embedded when one was written. Lets the writer catch
// up before the next state is offered.
class Witness : public Relay {
 public:
  using Relay::Relay;

  arrow::Status OnEmbedded(int snapshot, const Embedder& embedder) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return num_written_ >= snapshot; });
    EXPECT_EQ(snapshot, num_embedded_++);
    lock.unlock();
    return Relay::OnEmbedded(snapshot, embedder);
  }
  arrow::Status OnWritten(WrittenSnapshot written) override {
    const int snapshot = written.snapshot;
    ARROW_RETURN_NOT_OK(Relay::OnWritten(std::move(written)));
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(snapshot, num_written_++);
    EXPECT_LT(snapshot, num_embedded_);
    changed_.notify_all();
    return arrow::Status::OK();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int num_embedded_ = 0;
  int num_written_ = 0;
};

// Tells of a snapshot when two more have been embedded.
class Late : public Relay {
 public:
  using Relay::Relay;

  arrow::Status OnEmbedded(int snapshot, const Embedder& embedder) override {
    return snapshot < 2 ? arrow::Status::OK() : Relay::OnEmbedded(snapshot - 2, embedder);
  }
};

class CheckpointerTest : public GrowingRun {
 protected:
  // Embed a schedule, with an observer before the checkpointer. Returns how often it was
  // committed on the way.
  template <typename Observer>
  arrow::Result<int> NumCommits() {
    WriteLog("a.parquet", 0, kTimes);
    RunRequest request;
    request.goal = Goal::kSchedule;
    ARROW_RETURN_NOT_OK(Run("run", request).status());
    const auto store = StoreAt(PathOf("run"));
    Manifest manifest = LoadManifest(*store).ValueOrDie().value();
    const int number_before = manifest.number;
    ARROW_ASSIGN_OR_RAISE(
        ScheduledRun run,
        OpenScheduledRun(settings_, *store, *manifest.Find(kEmbedPart), LogUse::kNone));
    num_snapshots_ = static_cast<int>(run.schedule.size());
    const std::vector<SolveWork> work;
    Checkpointer checkpointer(*store, &manifest, run.schedule, run.progress, work,
                              settings_);
    Observer observer(checkpointer);
    const EmbedTask task{run.schedule, run.progress, manifest.Find(kEmbedPart)->files,
                         /*provenance=*/{}};
    ARROW_RETURN_NOT_OK(
        RunEmbedPass(settings_, run.inputs, task, *store, observer, {&watched_})
            .status());
    return manifest.number - number_before;
  }

  int num_snapshots_ = 0;
};

TEST_F(CheckpointerTest, ASnapshotIsEmbeddedBeforeItIsWrittenAndEveryOneIsCommitted) {
  const auto commits = NumCommits<Witness>();
  CODEN_EXPECT_OK(commits.status());
  EXPECT_GT(num_snapshots_, 5);
  // The last one is committed by whoever ends the pass.
  EXPECT_EQ(commits.ValueOr(0), num_snapshots_ - 1);
}

TEST_F(CheckpointerTest, AStateThatComesTooLateIsAnErrorNotSilence) {
  const auto commits = NumCommits<Late>();
  EXPECT_NE(commits.status().message().find("came after its file was written"),
            std::string::npos)
      << commits.status().ToString();
}

}  // namespace
}  // namespace coden
