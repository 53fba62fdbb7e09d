#include "coden/pipeline/runner.h"

#include <chrono>
#include <utility>

namespace coden {

namespace {

// Charge wall time to whoever is at work. Work nests: a stage that emits hands the clock
// to the next one and takes it back.
class TimeSheet {
 public:
  explicit TimeSheet(std::size_t num_workers) : seconds_(num_workers, 0.0) {}

  /// Charge the time since the last switch and make `worker` the one at work; returns the
  /// worker before.
  std::size_t Switch(std::size_t worker) {
    const auto now = Clock::now();
    seconds_[worker_] += std::chrono::duration<double>(now - since_).count();
    since_ = now;
    return std::exchange(worker_, worker);
  }

  double seconds(std::size_t worker) const { return seconds_[worker]; }

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<double> seconds_;
  std::size_t worker_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace

arrow::Result<PassTimes> Run(arrow::RecordBatchReader& source,
                             std::span<Operator* const> stages, const Emit& sink,
                             const RunContext& context) {
  SchemaPtr schema = source.schema();
  for (Operator* stage : stages) {
    ARROW_ASSIGN_OR_RAISE(schema, stage->Bind(schema));
  }

  // emits[i] is the entrance of stage i, the last one that of the sink. Worker 0 is the
  // source, worker i + 1 is stage i.
  TimeSheet sheet(stages.size() + 2);
  std::vector<Emit> emits(stages.size() + 1);
  for (std::size_t i = stages.size() + 1; i-- > 0;) {
    emits[i] = [&, i](BatchPtr batch) {
      const std::size_t caller = sheet.Switch(i + 1);
      const arrow::Status status = i == stages.size()
                                       ? sink(std::move(batch))
                                       : stages[i]->Push(std::move(batch), emits[i + 1]);
      sheet.Switch(caller);
      return status;
    };
  }

  std::int64_t rows = 0;
  while (true) {
    ARROW_RETURN_NOT_OK(context.stop.Poll());
    BatchPtr batch;
    ARROW_RETURN_NOT_OK(source.ReadNext(&batch));
    if (batch == nullptr) break;
    rows += batch->num_rows();
    ARROW_RETURN_NOT_OK(emits[0](std::move(batch)));
    context.progress->Advance(rows);
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    sheet.Switch(i + 1);
    ARROW_RETURN_NOT_OK(stages[i]->Finish(emits[i + 1]));
  }
  sheet.Switch(0);

  PassTimes times;
  times.source = sheet.seconds(0);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    times.stages.push_back(sheet.seconds(i + 1));
  }
  return times;
}

}  // namespace coden
