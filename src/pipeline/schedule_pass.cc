// The first pass over the log: cheap, and it ends in the schedule. What it is made of is
// decided here, in flow order.

#include "coden/pipeline/schedule_pass.h"

#include <algorithm>
#include <bit>

#include <arrow/table.h>

#include "coden/graph/degree_graph.h"
#include "coden/partition/partitioner.h"
#include "coden/pipeline/error.h"
#include "coden/pipeline/resources.h"
#include "coden/pipeline/runner.h"
#include "coden/report/printable.h"
#include "coden/sample/schedule_sampler.h"
#include "coden/state/late_rows.h"
#include "coden/state/log_hasher.h"
#include "coden/state/saved_graph.h"
#include "pipeline/memory_guard_internal.h"

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

void NoteIf(std::int64_t count, std::string_view text, std::vector<std::string>* notes) {
  if (count > 0) notes->push_back(CountOf(count, text));
}

std::vector<std::string> NotesOf(const Settings& settings, const RunInputs& inputs,
                                 const PredictionClock& clock, const EventCounts& counts,
                                 std::int64_t num_late) {
  std::vector<std::string> notes;
  NoteIf(inputs.log.num_before + inputs.log.num_after,
         "rows outside `input.from`/`input.until`: not read", &notes);
  NoteIf(counts.repeated, "rows repeat an edge that is there: ignored", &notes);
  NoteIf(counts.self_loops, "self loops: dropped (`graph.self_loops` keeps them)",
         &notes);
  NoteIf(counts.missing_deletions,
         "deletions of an absent edge: skipped (`graph.lenient`)", &notes);
  NoteIf(counts.expired, "edges expired (`graph.window`)", &notes);
  NoteIf(num_late, "rows came late: dropped (`input.late`)", &notes);
  NoteIf(clock.num_merged(),
         "prediction times fell together with another, because one time holds all their "
         "rows",
         &notes);
  NoteIf(clock.num_unused(), "rows after the last prediction time: not used", &notes);
  if (!settings.input.features.empty()) {
    NoteIf(inputs.nodes->size() -
               static_cast<std::int64_t>(inputs.features.row_nodes().size()),
           "nodes have no feature row: zeros are used", &notes);
  }
  return notes;
}

// Put a sampler where that of the earlier run was when its log ended.
arrow::Status Continue(const EarlierRun& earlier, const RunInputs& inputs,
                       ScheduleSampler* stage) {
  LazySampler& sampler = stage->sampler();
  for (NodeId node = 0; node < static_cast<NodeId>(inputs.saved.size()); ++node)
    sampler.RestoreNode(node, inputs.saved[node].sampled);
  ARROW_RETURN_NOT_OK(LoadGraph(earlier.store, inputs.nodes->size(), sampler.graph()));
  sampler.Restore(earlier.progress.sampler);
  return stage->ContinueAfter(earlier.progress.clock.last_time);
}

// Every node with what the next run has to know of it.
std::vector<SavedNode> SavedNodes(const RunInputs& inputs, const LazySampler& sampler,
                                  int first_snapshot) {
  std::vector<SavedNode> nodes(inputs.nodes->size());
  const std::vector<SampledNode> sampled = sampler.Nodes();
  for (std::size_t node = 0; node < sampled.size(); ++node)
    nodes[node].sampled = sampled[node];
  for (std::size_t node = 0; node < inputs.saved.size(); ++node)
    nodes[node].features_since = inputs.saved[node].features_since;
  for (const NodeId node : inputs.features.row_nodes()) {
    if (nodes[node].features_since < 0) nodes[node].features_since = first_snapshot;
  }
  return nodes;
}

}  // namespace

arrow::Result<SchedulePassResult> RunSchedulePass(const Settings& settings,
                                                  RunInputs& inputs,
                                                  const RunContext& context,
                                                  const EarlierRun* earlier) {
  SchedulePassResult result;
  if (earlier != nullptr) result.progress = earlier->progress;
  const RunProgress before = result.progress;
  const std::int64_t first_row = before.log.empty() ? 0 : before.log.back().end_row();
  const std::int64_t num_rows = inputs.log.num_rows - first_row;

  EventTime log_end = kNoTime;
  if (settings.partition.unfinished == UnfinishedInterval::kWait) {
    ARROW_ASSIGN_OR_RAISE(log_end, inputs.log.LastTime());
  }
  ARROW_ASSIGN_OR_RAISE(
      auto clock, earlier == nullptr
                      ? PredictionClock::Make(settings.partition, num_rows, log_end)
                      : PredictionClock::Continue(settings.partition, before.clock,
                                                  before.clock.rows + num_rows, log_end));
  EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes,
                     inputs.log.num_before + first_row);
  LateRows late(settings.input.late, earlier ? before.clock.last_time : kNoTime,
                inputs.log.num_before + first_row, settings.input.edges);
  Partitioner partitioner(std::move(clock));
  LogHasher hasher;
  ARROW_ASSIGN_OR_RAISE(
      const auto sampler,
      ScheduleSampler::Make(settings.sample, settings.embed, settings.graph,
                            inputs.features, *inputs.nodes));
  if (earlier != nullptr) ARROW_RETURN_NOT_OK(Continue(*earlier, inputs, sampler.get()));
  for (const NodeId node : inputs.features.row_nodes()) sampler->sampler().AddNode(node);

  arrow::RecordBatchVector rows;
  const auto collect = [&rows](BatchPtr batch) {
    rows.push_back(std::move(batch));
    return arrow::Status::OK();
  };
  ARROW_ASSIGN_OR_RAISE(const auto source,
                        inputs.log.Scan(settings.input.batch_rows, first_row));
  context.progress->Begin("schedule", "rows", num_rows);
  MemoryGuard guard(settings, num_rows, [&](std::int64_t more) {
    const std::int64_t nodes = inputs.nodes->size();
    return DegreeGraph::GrowthBytes(sampler->sampler().graph().num_edges(), more) +
           TablesGrowth(nodes, more);
  });
  Operator* stages[] = {&guard, &reader, &late, &partitioner, &hasher, sampler.get()};
  // The reader numbers nodes that the sampler looks up, so they share a thread.
  ARROW_ASSIGN_OR_RAISE(const PassTimes times,
                        Run(*source, stages, collect, context, {.read_ahead_of = 0}));
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        arrow::Table::FromRecordBatches(ScheduleSchema(), rows));
  ARROW_ASSIGN_OR_RAISE(result.schedule,
                        ScheduleFromTable(*table, before.sampler.num_snapshots));

  if (hasher.num_events() > 0) {
    result.progress.log.push_back({first_row + late.num_dropped(),
                                   before.sampler.num_events, hasher.num_events(),
                                   hasher.Digest()});
    result.progress.num_late += late.num_dropped();
  }
  result.progress.clock = partitioner.clock().memory();
  result.progress.sampler = sampler->sampler().Memory();
  result.progress.feature_rows =
      static_cast<std::int64_t>(inputs.features.row_nodes().size());
  result.progress.feature_hash = inputs.features.hash();
  result.progress.update_hash = sampler->update_hash();
  result.nodes = SavedNodes(inputs, sampler->sampler(), before.sampler.num_snapshots);
  result.notes =
      NotesOf(settings, inputs, partitioner.clock(), sampler->sampler().counts(),
              before.num_late + late.num_dropped());

  const std::string rows_text = CountOf(num_rows, "rows");
  const std::string predictions =
      CountOf(partitioner.clock().num_predictions() - before.clock.num_predictions,
              "prediction times");
  const std::string snapshots =
      CountOf(static_cast<std::int64_t>(result.schedule.size()), "snapshots");
  result.figures = {
      {"read", rows_text, CountOf(inputs.nodes->size(), "nodes"),
       times.source + times.stages[1] + times.stages[2], PeakMemory()},
      {"partition", rows_text, predictions, times.stages[3] + times.stages[4],
       PeakMemory()},
      {"sample", predictions, snapshots, times.stages[5], PeakMemory()},
  };
  context.progress->End(predictions + ", " + snapshots);
  return result;
}

}  // namespace coden
