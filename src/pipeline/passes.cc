// The two passes over the log. The first is cheap and ends in the schedule; the second
// replays the log against it. What each stage is made of is decided here, in flow order.

#include "coden/pipeline/passes.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "coden/embed/embedder.h"
#include "coden/partition/partitioner.h"
#include "coden/pipeline/error.h"
#include "coden/pipeline/runner.h"
#include "coden/read/labels.h"
#include "coden/report/printable.h"
#include "coden/sample/schedule_sampler.h"

namespace coden {

namespace {

// The embedding can be interrupted between two batches and moves its bar by them, so its
// batches are short.
constexpr std::int64_t kEmbedBatchRows = 4096;

std::string Count(std::int64_t count, std::string_view noun) {
  return FormatCount(count) + " " + std::string(noun);
}

void NoteIf(std::int64_t count, std::string_view text, std::vector<std::string>* notes) {
  if (count > 0) notes->push_back(Count(count, text));
}

std::vector<std::string> ScheduleNotes(const RunInputs& inputs, const Settings& settings,
                                       const Partitioner& partitioner,
                                       const LazySampler& sampler) {
  std::vector<std::string> notes;
  const EventCounts& counts = sampler.counts();
  NoteIf(counts.repeated, "rows repeat an edge that is there: ignored", &notes);
  NoteIf(counts.self_loops, "self loops: dropped (`graph.self_loops` keeps them)",
         &notes);
  NoteIf(counts.missing_deletions,
         "deletions of an absent edge: skipped (`graph.lenient`)", &notes);
  NoteIf(counts.expired, "edges expired (`graph.window`)", &notes);
  NoteIf(partitioner.clock().num_merged(),
         "prediction times fell together with another, because one time holds all their "
         "rows",
         &notes);
  NoteIf(partitioner.clock().num_unused(),
         "rows after the last prediction time: not used", &notes);
  if (!settings.input.features.empty()) {
    NoteIf(inputs.nodes->size() - inputs.features.num_rows(),
           "nodes have no feature row: zeros are used", &notes);
  }
  return notes;
}

}  // namespace

arrow::Result<RunInputs> RunInputs::Open(const Settings& settings) {
  RunInputs inputs;
  ARROW_ASSIGN_OR_RAISE(inputs.log, EdgeLog::Open(settings.input, settings.graph.events));
  ARROW_ASSIGN_OR_RAISE(inputs.nodes, NodeIdMap::Make(inputs.log.id_type));
  ARROW_ASSIGN_OR_RAISE(
      inputs.features,
      NodeFeatures::Open(settings.input, settings.run.seed, *inputs.nodes));
  const int width = inputs.features.width();
  inputs.columns = settings.embed.columns.value_or(ColumnRange{0, width});
  if (inputs.columns.end > width) {
    return UsageError("`embed.columns` must lie within the ", width,
                      " feature columns: ", inputs.columns.begin, ":",
                      inputs.columns.end);
  }
  return inputs;
}

arrow::Result<SchedulePassResult> RunSchedulePass(const Settings& settings,
                                                  RunInputs& inputs,
                                                  const RunContext& context) {
  ARROW_ASSIGN_OR_RAISE(auto clock,
                        PredictionClock::Make(settings.partition, inputs.log.num_rows));
  EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes);
  Partitioner partitioner(std::move(clock));
  ARROW_ASSIGN_OR_RAISE(
      const auto sampler,
      ScheduleSampler::Make(settings.sample, settings.embed, settings.graph,
                            inputs.features, *inputs.nodes));

  SchedulePassResult result;
  arrow::RecordBatchVector rows;
  const auto collect = [&rows](BatchPtr batch) {
    rows.push_back(std::move(batch));
    return arrow::Status::OK();
  };
  ARROW_ASSIGN_OR_RAISE(const auto source, inputs.log.Scan(settings.input.batch_rows));
  context.progress->Begin("schedule", "rows", inputs.log.num_rows);
  Operator* stages[] = {&reader, &partitioner, sampler.get()};
  ARROW_ASSIGN_OR_RAISE(const PassTimes times, Run(*source, stages, collect, context));
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        arrow::Table::FromRecordBatches(ScheduleSchema(), rows));
  ARROW_ASSIGN_OR_RAISE(result.schedule, ScheduleFromTable(*table));

  result.first_event = sampler->sampler().first_event();
  result.first_event.resize(inputs.nodes->size(), LazySampler::kNever);
  result.notes = ScheduleNotes(inputs, settings, partitioner, sampler->sampler());
  const std::string rows_text = Count(inputs.log.num_rows, "rows");
  const std::string predictions =
      Count(partitioner.clock().num_predictions(), "prediction times");
  const std::string snapshots =
      Count(static_cast<std::int64_t>(result.schedule.size()), "snapshots");
  result.figures = {
      {"read", rows_text, Count(inputs.nodes->size(), "nodes"),
       times.source + times.stages[0]},
      {"partition", rows_text, predictions, times.stages[1]},
      {"sample", predictions, snapshots, times.stages[2]},
  };
  context.progress->End(predictions + ", " + snapshots);
  return result;
}

arrow::Result<EmbedPassResult> RunEmbedPass(const Settings& settings, RunInputs& inputs,
                                            const SchedulePassResult& scheduled,
                                            const SnapshotProvenance& provenance,
                                            const RunContext& context) {
  EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes);
  ARROW_ASSIGN_OR_RAISE(
      const auto embedder,
      Embedder::Make({settings.embed, settings.graph, inputs.columns, context.stop},
                     scheduled.schedule, inputs.features, *inputs.nodes));
  Labels labels;
  const bool labelled_only = settings.snapshot.nodes == SnapshotNodes::kLabelled;
  if (labelled_only) {
    ARROW_ASSIGN_OR_RAISE(labels, ReadLabels(settings.input));
  }
  SnapshotWriter writer(settings.snapshot, {settings.run.directory}, scheduled.schedule,
                        inputs.columns.size(), provenance,
                        labelled_only ? labels.nodes.get() : nullptr);

  ARROW_ASSIGN_OR_RAISE(const auto source,
                        inputs.log.Scan(std::min<std::int64_t>(settings.input.batch_rows,
                                                               kEmbedBatchRows)));
  context.progress->Begin("embed", "rows", inputs.log.num_rows);
  Operator* stages[] = {&reader, embedder.get(), &writer};
  const auto discard = [](const BatchPtr&) { return arrow::Status::OK(); };
  ARROW_ASSIGN_OR_RAISE(const PassTimes times, Run(*source, stages, discard, context));

  EmbedPassResult result;
  result.files = writer.files();
  std::int64_t bytes = 0;
  for (const FileRecord& file : result.files) bytes += file.size;
  const std::string snapshots =
      Count(static_cast<std::int64_t>(result.files.size()), "snapshots");
  const std::string columns = Count(inputs.columns.size(), "columns");
  char bound[64];
  std::snprintf(bound, sizeof(bound), "error bound %.1e per node",
                embedder->figures().worst_error_bound);
  result.figures = {
      {"embed", snapshots + ", " + columns, bound,
       times.source + times.stages[0] + times.stages[1]},
      {"snapshot", snapshots, Count((bytes + 500'000) / 1'000'000, "MB"),
       times.stages[2]},
  };
  context.progress->End(snapshots + " of " + columns + ", " + bound);
  return result;
}

std::shared_ptr<arrow::Schema> NodesSchema(
    const std::shared_ptr<arrow::DataType>& id_type) {
  return arrow::schema({
      arrow::field("node", id_type, /*nullable=*/false),
      arrow::field("first_event", arrow::int64()),
  });
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> NodesBatch(
    const NodeIdMap& nodes, const std::vector<EventTime>& first_event) {
  ARROW_ASSIGN_OR_RAISE(const auto ids, nodes.Ids(0, nodes.size()));
  arrow::Int64Builder times;
  for (const EventTime time : first_event) {
    ARROW_RETURN_NOT_OK(time == LazySampler::kNever ? times.AppendNull()
                                                    : times.Append(time));
  }
  ARROW_ASSIGN_OR_RAISE(const auto first, times.Finish());
  return arrow::RecordBatch::Make(NodesSchema(nodes.id_type()), nodes.size(),
                                  {ids, first});
}

}  // namespace coden
