// The two passes over the log. The first is cheap and ends in the schedule; the second
// replays the log against it, once or for one slice of the columns after another. What
// each pass is made of is decided here, in flow order.

#include "coden/pipeline/passes.h"

#include <algorithm>
#include <numeric>
#include <optional>

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
#include "coden/snapshot/node_filter.h"
#include "embed/column_spill_internal.h"

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
  NoteIf(inputs.log.num_before + inputs.log.num_after,
         "rows outside `input.from`/`input.until`: not read", &notes);
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

std::string BoundText(const std::vector<double>& bounds) {
  const double worst =
      bounds.empty() ? 0.0 : *std::max_element(bounds.begin(), bounds.end());
  return "error bound " + FormatScientific(worst, 1) + " per node";
}

std::vector<ColumnRange> Slices(const ColumnRange& columns, int width) {
  std::vector<ColumnRange> slices;
  for (int begin = columns.begin; begin < columns.end; begin += width) {
    slices.push_back({begin, std::min(begin + width, columns.end)});
  }
  return slices;
}

struct SliceResult {
  double embed_seconds = 0.0;
  double outlet_seconds = 0.0;
  std::vector<double> error_bounds;  // by snapshot
};

// Replay the log for the columns of `slice` and send every snapshot through `outlet`.
arrow::Result<SliceResult> EmbedSlice(const Settings& settings, RunInputs& inputs,
                                      const Schedule& schedule, const ColumnRange& slice,
                                      std::span<Operator* const> outlet,
                                      const std::string& step,
                                      const RunContext& context) {
  EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes);
  ARROW_ASSIGN_OR_RAISE(const auto embedder,
                        Embedder::Make({settings.embed, settings.graph, slice,
                                        context.stop, inputs.columns.size()},
                                       schedule, inputs.features, *inputs.nodes));
  ARROW_ASSIGN_OR_RAISE(const auto source,
                        inputs.log.Scan(std::min<std::int64_t>(settings.input.batch_rows,
                                                               kEmbedBatchRows)));
  context.progress->Begin(step, "rows", inputs.log.num_rows);
  std::vector<Operator*> stages = {&reader, embedder.get()};
  stages.insert(stages.end(), outlet.begin(), outlet.end());
  const auto discard = [](const BatchPtr&) { return arrow::Status::OK(); };
  ARROW_ASSIGN_OR_RAISE(const PassTimes times,
                        Run(*source, stages, discard, context,
                            {.read_ahead_of = 1, .write_behind_from = 2}));
  SliceResult result;
  result.embed_seconds = times.source + times.stages[0] + times.stages[1];
  result.outlet_seconds =
      std::accumulate(times.stages.begin() + 2, times.stages.end(), 0.0);
  result.error_bounds = embedder->figures().error_bounds;
  context.progress->End(Count(static_cast<std::int64_t>(schedule.size()), "snapshots") +
                        " of " + Count(slice.size(), "columns") + ", " +
                        BoundText(result.error_bounds));
  return result;
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
  // The reader numbers nodes that the sampler looks up, so they share a thread.
  ARROW_ASSIGN_OR_RAISE(const PassTimes times,
                        Run(*source, stages, collect, context, {.read_ahead_of = 0}));
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

arrow::Result<EmbedPassResult> RunEmbedPasses(const Settings& settings, RunInputs& inputs,
                                              const SchedulePassResult& scheduled,
                                              int columns_per_pass,
                                              const SnapshotProvenance& provenance,
                                              const RunContext& context) {
  // Stages on different threads share the node ids.
  inputs.nodes->Freeze();
  const RunLayout layout{settings.run.directory};
  SnapshotWriter writer(settings.snapshot, layout, scheduled.schedule,
                        inputs.columns.size(), provenance);
  Labels labels;
  std::optional<NodeFilter> filter;
  if (settings.snapshot.nodes == SnapshotNodes::kLabelled) {
    ARROW_ASSIGN_OR_RAISE(labels, ReadLabels(settings.input));
    filter.emplace(*labels.nodes);
  }

  const std::vector<ColumnRange> slices = Slices(inputs.columns, columns_per_pass);
  std::vector<std::unique_ptr<ColumnSpill>> spills;
  SliceResult total;
  for (const ColumnRange& slice : slices) {
    std::vector<Operator*> outlet;
    if (filter) outlet.push_back(&*filter);
    std::optional<ColumnSpiller> spiller;
    std::optional<ColumnJoiner> joiner;
    if (slice.end < inputs.columns.end) {
      const std::string name = std::string(RunLayout::kStage) + "/columns-" +
                               std::to_string(slice.begin) + ".f32";
      ARROW_ASSIGN_OR_RAISE(auto spill,
                            ColumnSpill::Create(layout.Path(name), slice.size()));
      outlet.push_back(&spiller.emplace(*spills.emplace_back(std::move(spill))));
    } else {
      if (!spills.empty()) outlet.push_back(&joiner.emplace(spills));
      outlet.push_back(&writer);
    }
    std::string step = "embed";
    if (slices.size() > 1) {
      step += " " + std::to_string(&slice - slices.data() + 1) + "/" +
              std::to_string(slices.size());
    }
    ARROW_ASSIGN_OR_RAISE(
        const SliceResult part,
        EmbedSlice(settings, inputs, scheduled.schedule, slice, outlet, step, context));
    total.embed_seconds += part.embed_seconds;
    total.outlet_seconds += part.outlet_seconds;
    total.error_bounds.resize(part.error_bounds.size(), 0.0);
    for (std::size_t i = 0; i < part.error_bounds.size(); ++i)
      total.error_bounds[i] = std::max(total.error_bounds[i], part.error_bounds[i]);
  }

  EmbedPassResult result;
  result.files = writer.files();
  std::int64_t bytes = 0;
  for (const FileRecord& file : result.files) bytes += file.size;
  const std::string snapshots =
      Count(static_cast<std::int64_t>(result.files.size()), "snapshots");
  std::string taken = snapshots + ", " + Count(inputs.columns.size(), "columns");
  if (slices.size() > 1) {
    taken += " in " + Count(static_cast<std::int64_t>(slices.size()), "passes");
  }
  result.error_bounds = std::move(total.error_bounds);
  result.figures = {
      {"embed", taken, BoundText(result.error_bounds), total.embed_seconds},
      {"snapshot", snapshots, Count((bytes + 500'000) / 1'000'000, "MB"),
       total.outlet_seconds},
  };
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
