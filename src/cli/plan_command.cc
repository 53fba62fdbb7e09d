#include <algorithm>

#include "cli/command_internal.h"
#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/pipeline/pipeline.h"
#include "coden/pipeline/slice_plan.h"
#include "coden/plan/cost_model.h"
#include "settings/setting_value_internal.h"

namespace coden {

namespace {

// One row per prediction time: what the embedding will have to do for it.
ResultsTable PredictionsTable(const Schedule& schedule) {
  ResultsTable table;
  table.key = "prediction_times";
  table.title = "Prediction times";
  table.columns = {{"prediction", "prediction", ColumnType::kInteger},
                   {"time", "time", ColumnType::kInteger},
                   {"rows", "rows", ColumnType::kInteger},
                   {"snapshots", "snapshots", ColumnType::kInteger},
                   {"num_nodes", "nodes", ColumnType::kInteger},
                   {"num_edges", "edges", ColumnType::kInteger}};
  std::int64_t snapshots = 0;
  std::int64_t rows_before = 0;
  for (const SchedulePoint& point : schedule) {
    ++snapshots;
    const bool closes = point.at_prediction || point.prediction == 0;
    if (!closes) continue;
    table.rows.push_back({std::int64_t{point.prediction}, std::int64_t{point.time},
                          point.events - rows_before, snapshots, point.num_nodes,
                          point.num_edges});
    rows_before = point.events;
    snapshots = 0;
  }
  return table;
}

ResultsTable NeedsTable(const PipelinePlan& plan, const SnapshotOptions& snapshot) {
  // How many rows will have moved is not known before they are embedded.
  const bool at_most = !plan.disk || snapshot.mode == SnapshotMode::kDelta;
  const std::int64_t disk_bytes =
      plan.disk ? plan.disk->all_bytes() : plan.resources.disk_bytes;
  ResultsTable table;
  table.key = "needs";
  table.title = "Needs";
  table.is_record = true;
  const auto add = [&](const char* key, const char* header, ColumnType type, Cell cell) {
    table.columns.push_back({key, header, type});
    table.rows.resize(1);
    table.rows.front().push_back(std::move(cell));
  };
  using enum ColumnType;
  add("rows", "rows of the log", kCount, plan.num_rows);
  add("nodes", "nodes", kCount, std::int64_t{plan.num_nodes});
  add("feature_columns", "feature columns", kCount, std::int64_t{plan.num_columns});
  add("snapshots", "snapshots", kCount,
      static_cast<std::int64_t>(plan.scheduled.schedule.size()));
  add("passes", "passes of the embedding", kCount,
      std::int64_t{plan.resources.num_passes});
  add("columns_per_pass", "columns per pass", kCount,
      std::int64_t{plan.resources.columns_per_pass});
  add("memory_bytes", "memory", kBytes, plan.resources.peak_bytes());
  add("embedding_memory_bytes", "memory of the embedding", kBytes,
      plan.resources.memory_bytes + plan.resources.kept_bytes);
  add("training_memory_bytes", "memory of the training", kBytes,
      plan.resources.training ? plan.resources.training->memory_bytes : std::int64_t{0});
  add("disk_bytes", at_most ? "disk, up to about" : "disk, about", kBytes, disk_bytes);
  add("disk_is_upper_bound", "the run may need less disk", kBoolean, at_most);
  add("temporary_disk_bytes", "temporary disk", kBytes,
      plan.resources.temporary_disk_bytes());
  return table;
}

// Slices, and a log that is not here. 0: not given.
struct SliceFlags {
  std::int64_t slices = 0;
  std::int64_t nodes = 0;
  std::int64_t edges = 0;
  std::int64_t columns = 0;
  std::int64_t snapshots = 0;
  std::int64_t labelled = 0;
};

struct SliceFlag {
  const char* name;
  std::int64_t SliceFlags::* member;
  std::int64_t most;
  const char* help;
};
constexpr SliceFlag kSliceFlags[] = {
    {"slices", &SliceFlags::slices, 4096,
     "Split the feature columns into this many slices and estimate the cost of each, "
     "and of the whole run."},
    {"nodes", &SliceFlags::nodes, std::int64_t{1} << 31,
     "Number of nodes, when planning --slices without the log."},
    {"edges", &SliceFlags::edges, std::int64_t{1} << 40, "Number of edges, likewise."},
    {"columns", &SliceFlags::columns, 1 << 20, "Number of feature columns, likewise."},
    {"snapshots", &SliceFlags::snapshots, 1 << 20, "Number of snapshots, likewise."},
    {"labelled", &SliceFlags::labelled, std::int64_t{1} << 31,
     "Number of labelled nodes, likewise; for `snapshot.nodes = labelled`."},
};

// Take the flags of slices out of the command line.
arrow::Result<SliceFlags> TakeSliceFlags(CommandLine* line) {
  SliceFlags flags;
  for (const SliceFlag& flag : kSliceFlags) {
    const auto given =
        std::find_if(line->flags.begin(), line->flags.end(),
                     [&](const auto& other) { return other.first == flag.name; });
    if (given == line->flags.end()) continue;
    const setting_value::Integer<std::int64_t> rule{1, flag.most};
    const auto value = rule.Parse(given->second);
    if (!value) {
      return UsageError("`--", flag.name, "` must be ", rule.rule(), ": '", given->second,
                        "'");
    }
    flags.*flag.member = *value;
    line->flags.erase(given);
  }
  const std::int64_t described[] = {flags.nodes, flags.edges, flags.columns,
                                    flags.snapshots};
  const auto missing = std::count(std::begin(described), std::end(described), 0);
  const bool elsewhere = missing != 4 || flags.labelled > 0;
  if (elsewhere && (missing > 0 || flags.slices == 0)) {
    return UsageError(
        "a log that is not here takes all of --slices, --nodes, --edges, --columns and "
        "--snapshots");
  }
  return flags;
}

ResultsTable SlicesTable(const RunCost& cost) {
  ResultsTable table;
  table.key = "slices";
  table.title = "Slices";
  table.columns = {{"columns", "columns"},
                   {"memory_bytes", "memory", ColumnType::kBytes},
                   {"seconds", "seconds, about", ColumnType::kReal},
                   {"read_bytes", "reads", ColumnType::kBytes},
                   {"write_bytes", "writes", ColumnType::kBytes}};
  for (const SliceCost& slice : cost.slices) {
    table.rows.push_back(
        {std::to_string(slice.columns.begin) + ":" + std::to_string(slice.columns.end),
         slice.cost.memory_bytes, slice.cost.seconds, slice.cost.read_bytes,
         slice.cost.write_bytes});
  }
  return table;
}

ResultsTable CostsTable(const RunCost& cost) {
  ResultsTable table = SlicesTable({});
  table.key = "costs";
  table.title = "Costs";
  table.columns.front() = {"step", "step"};
  const auto add = [&](const char* step, const StepCost& needs) {
    table.rows.push_back(
        {step, needs.memory_bytes, needs.seconds, needs.read_bytes, needs.write_bytes});
  };
  add("schedule", cost.schedule);
  add("slices, one worker each", cost.slices.front().cost);
  add("commit", cost.commit);
  add("all, one after another", cost.InTurn());
  add("all, slices at once", cost.AtOnce());
  return table;
}

arrow::Result<std::string> PlanSlices(Settings settings, const SliceFlags& flags,
                                      const OutputForm& form, const RunContext& context) {
  constexpr std::string_view kTables[] = {"slices", "costs"};
  ARROW_RETURN_NOT_OK(CheckOutputForm(form, kTables));
  CostSize size;
  if (flags.labelled > 0) settings.snapshot.nodes = SnapshotNodes::kLabelled;
  if (flags.nodes > 0) {
    const DescribedLog log{flags.nodes, flags.edges, static_cast<int>(flags.columns),
                           static_cast<int>(flags.snapshots), flags.labelled};
    size = DescribedSize(log, settings);
  } else {
    ARROW_ASSIGN_OR_RAISE(size, SizeOfRun(settings, context));
  }
  const RunCost cost = EstimateCost(settings, size, static_cast<int>(flags.slices));
  const ResultsTable tables[] = {SlicesTable(cost), CostsTable(cost)};
  return RenderAll(tables, form);
}

}  // namespace

std::vector<FlagSection> PlanFlags() {
  FlagSection slices{"Slices:", {}};
  for (const SliceFlag& flag : kSliceFlags) {
    const setting_value::Integer<std::int64_t> rule{1, flag.most};
    slices.flags.push_back({flag.name, rule.rule(), flag.help, ""});
  }
  return {slices};
}

arrow::Status PlanCommand(const CommandLine& given, const RunContext& context,
                          std::string* output) {
  CommandLine line = given;
  ARROW_ASSIGN_OR_RAISE(const SliceFlags flags, TakeSliceFlags(&line));
  ARROW_ASSIGN_OR_RAISE(const Settings settings, SettingsFrom(line));
  const OutputForm form{settings.report.format, line.table};
  if (flags.slices > 0) return PlanSlices(settings, flags, form, context).Value(output);
  constexpr std::string_view kTables[] = {"prediction_times", "needs"};
  ARROW_RETURN_NOT_OK(CheckOutputForm(form, kTables));
  ARROW_ASSIGN_OR_RAISE(const PipelinePlan plan, PlanPipeline(settings, context));
  plan.scheduled.SayNotes(*context.progress);
  const ResultsTable tables[] = {PredictionsTable(plan.scheduled.schedule),
                                 NeedsTable(plan, settings.snapshot)};
  ARROW_ASSIGN_OR_RAISE(*output, RenderAll(tables, form));
  const arrow::Status fits = CheckResources(settings, plan.resources);
  return fits.ok() ? fits : fits.WithMessage("the run would stop: ", fits.message());
}

}  // namespace coden
