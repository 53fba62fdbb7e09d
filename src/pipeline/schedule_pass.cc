// The first pass over the log: cheap, and it ends in the schedule. What it is made of is
// decided here, in flow order.

#include "coden/pipeline/schedule_pass.h"

#include <algorithm>
#include <bit>
#include <optional>

#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/base/runner.h"
#include "coden/graph/degree_graph.h"
#include "coden/partition/partitioner.h"
#include "coden/plan/resources.h"
#include "coden/sample/schedule_sampler.h"
#include "coden/state/history.h"
#include "coden/state/log_hasher.h"
#include "coden/state/log_segments.h"
#include "coden/state/saved_window.h"
#include "coden/store/run_layout.h"
#include "pipeline/id_checks_internal.h"
#include "plan/memory_guard_internal.h"
#include "read/rules_internal.h"
#include "read/time_warnings_internal.h"

namespace coden {

namespace {

// Of a node: its id and index in a table that is at least half empty, and what the stages
// know of it. All of it is kept in arrays whose size doubles.
constexpr std::int64_t kNodeBytes = 160;

// What these arrays may allocate before `more` edges are read.
std::int64_t TablesGrowth(std::int64_t nodes, std::int64_t more) {
  const auto size = [](std::int64_t count) {
    return std::bit_ceil(static_cast<std::uint64_t>(count + 1));
  };
  // Each edge may bring two nodes.
  const std::uint64_t next = size(nodes + 2 * more);
  return next == size(nodes)
             ? 0
             : std::min<std::int64_t>(next, nodes + 2 * more) * kNodeBytes;
}

// What became of all rows, of earlier runs too.
InputCounts CountsOf(const Settings& settings, const RunInputs& inputs,
                     const PredictionClock& clock, const EventCounts& events,
                     std::int64_t num_used) {
  InputCounts counts;
  counts.rows_read = inputs.log.num_rows;
  counts.rows_before = inputs.log.num_before;
  counts.rows_after = inputs.log.num_after;
  counts.rows_unused = clock.num_unused();
  counts.rows_late = inputs.log.num_rows - num_used - clock.num_unused();
  counts.self_loops = events.self_loops;
  counts.repeated_edges = events.repeated;
  counts.absent_deletions = events.missing_deletions;
  counts.expired_edges = events.expired;
  if (!settings.input.features.empty()) {
    counts.nodes_without_features =
        inputs.nodes->size() -
        static_cast<std::int64_t>(inputs.features.row_nodes().size());
  }
  return counts;
}

// What the insertions and edges that `graph.window` will let expire may allocate before
// `more` of them are read: an entry each, and a hash table that may grow.
std::int64_t ExpiryGrowth(EventTime window, std::int64_t edges, std::int64_t more) {
  return window == 0 ? 0 : more * 56 + (edges + more) * 16;
}

void AddNotes(const InputCounts& counts, const RunInputs& inputs,
              const PredictionClock& clock, SchedulePassResult* result) {
  std::vector<std::string>& notes = result->notes;
  for (const InputCountField& field : InputCountFields()) {
    const std::int64_t count = (counts.*field.value).value_or(0);
    if (field.told == InputCountField::Told::kSilently || count == 0) continue;
    const bool warns = field.told == InputCountField::Told::kWarning;
    (warns ? result->warnings : notes).push_back(CountOf(count, field.text));
  }
  if (clock.num_merged() > 0) {
    notes.push_back(CountOf(
        clock.num_merged(),
        "prediction times fell together with another, because one time holds all their "
        "rows"));
  }
  if (!inputs.log.other_columns.empty()) {
    std::string names;
    for (const std::string& name : inputs.log.other_columns)
      names += (names.empty() ? "" : ", ") + name;
    notes.push_back("columns of the edge log that are not read: " + names);
  }
}

// Put a sampler where that of the earlier run was when its log ended.
arrow::Status Continue(const EarlierRun& earlier, const RunInputs& inputs,
                       ScheduleSampler* stage) {
  LazySampler& sampler = stage->sampler();
  ShiftedGraph& graph = sampler.graph();
  const NodeId num_nodes = inputs.nodes->size();
  for (NodeId node = 0; node < static_cast<NodeId>(inputs.saved.size()); ++node)
    sampler.RestoreNode(node, inputs.saved[node]);
  graph.Grow(num_nodes);
  ARROW_ASSIGN_OR_RAISE(History history, History::Open(earlier.store, RunLayout::kHistory,
                                                       earlier.embed.files, num_nodes));
  ARROW_ASSIGN_OR_RAISE(
      const auto edges,
      history.Edges(earlier.progress.sampler.num_snapshots, graph.options().directed));
  for (const EdgeChange edge : edges) graph.RestoreEdge(edge.src(), edge.dst());
  if (graph.options().window > 0) {
    ARROW_ASSIGN_OR_RAISE(const auto pending,
                          LoadWindow(earlier.store, RunLayout::kWindow,
                                     graph.options().directed, num_nodes));
    for (const PendingExpiry& insertion : pending) graph.RestoreExpiry(insertion);
  }
  sampler.Restore(earlier.progress.sampler);
  return stage->ContinueAfter(earlier.progress.clock.last_time);
}

// Writes the history of what the sampler sees.
class Recorder {
 public:
  explicit Recorder(RunStore& store) : store_(store) {}

  arrow::Status Open(const EarlierRun* earlier) {
    return HistoryWriter::Make(
               store_, std::string(RunLayout::kHistory),
               earlier == nullptr ? std::vector<FileRecord>() : earlier->embed.files)
        .Value(&writer_);
  }

  void Follow(LazySampler& sampler) {
    sampler.Record([this](const SchedulePoint& point,
                          const std::vector<EdgeChange>& changes,
                          const ShiftedGraph& graph) {
      if (status_.ok()) status_ = Write(point, changes, graph);
    });
  }

  // The first error of writing.
  const arrow::Status& status() const { return status_; }

  arrow::Result<std::vector<FileRecord>> Close(const ShiftedGraph& graph) {
    ARROW_RETURN_NOT_OK(status_);
    ARROW_ASSIGN_OR_RAISE(auto files, writer_->Close());
    if (graph.options().window > 0) {
      ARROW_ASSIGN_OR_RAISE(files.emplace_back(), StageWindow(store_, RunLayout::kWindow,
                                                              graph.pending_expiries()));
    }
    return files;
  }

 private:
  arrow::Status Write(const SchedulePoint& point, const std::vector<EdgeChange>& changes,
                      const ShiftedGraph& graph) {
    ARROW_RETURN_NOT_OK(writer_->Write(point.snapshot, changes));
    return writer_->WantsGraph(point.num_edges) ? writer_->WriteGraph(graph.Edges())
                                                : arrow::Status::OK();
  }

  RunStore& store_;
  std::unique_ptr<HistoryWriter> writer_;
  arrow::Status status_;
};

// How many rows the clock will see, and the last time. Only the times tell which rows are
// late.
arrow::Result<EdgeLog::KeptRows> RowsForClock(const Settings& settings,
                                              const EdgeLog& log, std::int64_t first_row,
                                              const LateRule& late) {
  if (late.policy == LatePolicy::kDrop) return log.CountKept(first_row, late);
  EdgeLog::KeptRows rows{log.num_rows - first_row};
  if (settings.partition.unfinished == UnfinishedInterval::kWait) {
    ARROW_ASSIGN_OR_RAISE(rows.last_time, log.LastTime());
  }
  return rows;
}

std::vector<std::int64_t> FileStarts(const ParquetSource& source) {
  std::vector<std::int64_t> starts;
  std::int64_t row = 0;
  for (const ParquetSource::File& file : source.files()) {
    starts.push_back(row);
    row += file.num_rows;
  }
  return starts;
}

// An error of the sampler is about one row of the log.
arrow::Status RefusedRow(const arrow::Status& status, const EdgeLog& log,
                         std::int64_t row) {
  const arrow::Status placed = Refuse(*log.source)({{}, row, status.message(), {}});
  return WithFault(status.WithMessage(placed.message()), Fault::kInput);
}

}  // namespace

std::vector<std::string> SchedulePassResult::SayNotes(Progress& to) const {
  for (const std::string& warning : warnings) to.Warn(warning);
  for (const std::string& note : notes) to.Note(note);
  std::vector<std::string> all = warnings;
  all.insert(all.end(), notes.begin(), notes.end());
  return all;
}

arrow::Result<SchedulePassResult> RunSchedulePass(const Settings& settings,
                                                  RunInputs& inputs,
                                                  const RunContext& context,
                                                  RunStore* store,
                                                  const EarlierRun* earlier) {
  SchedulePassResult result;
  if (earlier != nullptr) result.progress = earlier->progress;
  const RunProgress before = result.progress;
  ARROW_ASSIGN_OR_RAISE(const std::int64_t first_row, RowAfter(before.log, inputs.log));
  const std::int64_t num_rows = inputs.log.num_rows - first_row;

  const LateRule late{settings.input.late, earlier ? before.clock.last_time : kNoTime};
  ARROW_ASSIGN_OR_RAISE(const EdgeLog::KeptRows kept,
                        RowsForClock(settings, inputs.log, first_row, late));
  ARROW_ASSIGN_OR_RAISE(
      auto clock,
      earlier == nullptr
          ? PredictionClock::Make(settings.partition, kept.count, kept.last_time)
          : PredictionClock::Continue(settings.partition, before.clock,
                                      before.clock.rows + kept.count, kept.last_time));
  EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes,
                     {.first_row = inputs.log.num_before + first_row,
                      .late = late,
                      .source = inputs.log.source.get()});
  Partitioner partitioner(std::move(clock));
  LogHasher hasher(FileStarts(*inputs.log.source));
  ARROW_ASSIGN_OR_RAISE(
      const auto sampler,
      ScheduleSampler::Make(settings.sample, settings.embed, settings.graph,
                            inputs.features, *inputs.nodes));
  if (earlier != nullptr) ARROW_RETURN_NOT_OK(Continue(*earlier, inputs, sampler.get()));
  for (const NodeId node : inputs.features.row_nodes()) sampler->sampler().AddNode(node);

  std::optional<Recorder> recorder;
  if (store != nullptr) {
    ARROW_RETURN_NOT_OK(recorder.emplace(*store).Open(earlier));
    recorder->Follow(sampler->sampler());
  }
  arrow::RecordBatchVector rows;
  const auto collect = [&](BatchPtr batch) {
    rows.push_back(std::move(batch));
    return recorder ? recorder->status() : arrow::Status::OK();
  };
  ARROW_ASSIGN_OR_RAISE(const auto source,
                        inputs.log.Scan(settings.input.batch_rows, first_row));
  context.progress->Begin("schedule", "rows", num_rows);
  MemoryGuard guard(settings, num_rows, [&](std::int64_t more) {
    const std::int64_t nodes = inputs.nodes->size();
    const std::int64_t edges = sampler->sampler().graph().num_edges();
    return DegreeGraph::GrowthBytes(edges, more) + TablesGrowth(nodes, more) +
           ExpiryGrowth(settings.graph.window, edges, more) +
           (store == nullptr
                ? 0
                : NetChanges::GrowthBytes(sampler->sampler().num_recorded(), more));
  });
  Operator* stages[] = {&guard, &reader, &partitioner, &hasher, sampler.get()};
  // The reader numbers nodes that the sampler looks up, so they share a thread.
  ARROW_ASSIGN_OR_RAISE(const auto warnings, TimeWarnings(settings, *inputs.log.source,
                                                          {inputs.log.columns[2], nullptr,
                                                           inputs.log.time_type}));
  const auto run = Run(*source, stages, collect, context, {.read_ahead_of = 0});
  if (!run.ok() && sampler->refused_row() >= 0)
    return RefusedRow(run.status(), inputs.log, sampler->refused_row());
  // A setting that leaves nothing to do may be one that does not fit the log.
  if (FaultOf(run.status()) == Fault::kUsage && !warnings.empty())
    return run.status().WithMessage(run.status().message(), "; ", warnings.front());
  ARROW_ASSIGN_OR_RAISE(const PassTimes times, run);
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        arrow::Table::FromRecordBatches(ScheduleSchema(), rows));
  ARROW_ASSIGN_OR_RAISE(result.schedule,
                        ScheduleFromTable(*table, before.sampler.num_snapshots));

  const std::vector<LogSegment> segments =
      SegmentsOf(inputs.log, hasher.TakePieces(), NumEvents(before.log));
  result.progress.log.insert(result.progress.log.end(), segments.begin(), segments.end());
  result.progress.clock = partitioner.clock().memory();
  result.progress.sampler = sampler->sampler().Memory();
  inputs.most_pending = sampler->sampler().most_pending();
  result.progress.feature_rows =
      static_cast<std::int64_t>(inputs.features.row_nodes().size());
  result.progress.feature_hash = inputs.features.hash();
  result.progress.update_hash = sampler->update_hash();
  result.nodes = sampler->sampler().nodes();
  result.nodes.resize(inputs.nodes->size());
  if (recorder) {
    ARROW_ASSIGN_OR_RAISE(result.state, recorder->Close(sampler->sampler().graph()));
  }
  result.counts = CountsOf(settings, inputs, partitioner.clock(),
                           sampler->sampler().counts(), NumEvents(result.progress.log));
  AddNotes(result.counts, inputs, partitioner.clock(), &result);
  ARROW_RETURN_NOT_OK(CheckIdsOfLog(settings, inputs, sampler->sampler().nodes(),
                                    &result.counts, &result.warnings));
  result.warnings.insert(result.warnings.end(), warnings.begin(), warnings.end());

  const std::int64_t num_nodes = inputs.nodes->size();
  const std::int64_t num_predictions =
      partitioner.clock().num_predictions() - before.clock.num_predictions;
  const auto num_snapshots = static_cast<std::int64_t>(result.schedule.size());
  const std::string rows_text = CountOf(num_rows, "rows");
  const std::string predictions = CountOf(num_predictions, "prediction times");
  const std::string snapshots = CountOf(num_snapshots, "snapshots");
  result.figures = {
      {"read",
       rows_text,
       CountOf(num_nodes, "nodes"),
       times.source + times.stages[1],
       PeakMemory(),
       {{"rows", num_rows}, {"nodes", num_nodes}}},
      {"partition",
       rows_text,
       predictions,
       times.stages[2] + times.stages[3],
       PeakMemory(),
       {{"rows", num_rows}, {"prediction_times", num_predictions}}},
      {"sample",
       predictions,
       snapshots,
       times.stages[4],
       PeakMemory(),
       {{"prediction_times", num_predictions}, {"snapshots", num_snapshots}}},
  };
  context.progress->End(predictions + ", " + snapshots);
  return result;
}

}  // namespace coden
