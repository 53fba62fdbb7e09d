#include <algorithm>
#include <filesystem>

#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "coden/base/printable.h"
#include "coden/generate/rmat.h"
#include "coden/plan/resources.h"
#include "coden/read/event_batch.h"
#include "coden/state/run_inputs.h"
#include "experiment/number_nodes_internal.h"
#include "experiment/suites_internal.h"

namespace coden {

namespace {

constexpr int kShares = 4;          // of the rows, and of the columns
constexpr int kRandomColumns = 16;  // of the synthetic graphs
constexpr int kLeastScale = 3;
constexpr int kScales[] = {-4, -2, 0};  // of their sizes, against that of the log

Trial EmbedTrial(const Settings& settings, std::string_view group, double x) {
  return {.name = FormatCount(static_cast<std::int64_t>(x)),
          .x = x,
          .settings = settings,
          .kind = TrialKind::kEmbed,
          .group = std::string(group)};
}

// The time of row `row` of the log.
arrow::Result<EventTime> TimeOfRow(const Settings& settings, RunInputs& inputs,
                                   std::int64_t row) {
  EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes,
                     {.first_row = row});
  ARROW_ASSIGN_OR_RAISE(const auto source, inputs.log.Scan(1, row, row + 1));
  ARROW_RETURN_NOT_OK(reader.Bind(source->schema()).status());
  EventTime time = 0;
  std::shared_ptr<arrow::RecordBatch> batch;
  while (true) {
    ARROW_RETURN_NOT_OK(source->ReadNext(&batch));
    if (batch == nullptr) return time;
    ARROW_RETURN_NOT_OK(reader.Push(batch, [&](const BatchPtr& events) {
      time = EventView(*events).time(0);
      return arrow::Status::OK();
    }));
  }
}

// Prefixes of the log. Rows with the time of the last one belong to it as well.
arrow::Status AddRows(const Settings& settings, RunInputs& inputs,
                      std::vector<Trial>* trials) {
  const std::int64_t all = inputs.log.num_rows;
  for (int share = 1; share <= kShares; ++share) {
    const std::int64_t rows = all * share / kShares;
    if (rows == 0) continue;
    Settings prefix = settings;
    if (share < kShares) {
      ARROW_ASSIGN_OR_RAISE(const EventTime last, TimeOfRow(settings, inputs, rows - 1));
      prefix.input.until = std::to_string(last + 1);
    }
    trials->push_back(EmbedTrial(prefix, "rows", static_cast<double>(rows)));
  }
  return arrow::Status::OK();
}

// Random graphs of one number of rows and more and more nodes.
arrow::Status AddNodes(const Settings& settings, const RunInputs& inputs, Laboratory& lab,
                       const RunContext& context, std::vector<Trial>* trials) {
  int scale = 0;
  while ((std::int64_t{1} << scale) < inputs.nodes->size()) ++scale;
  for (const int change : kScales) {
    if (scale + change < kLeastScale) continue;
    RmatOptions rmat;
    rmat.scale = scale + change;
    rmat.edges = inputs.log.num_rows;
    rmat.out = lab.Path("logs/rmat-" + std::to_string(rmat.scale));
    std::error_code ignored;
    std::filesystem::create_directories(rmat.out, ignored);
    ARROW_RETURN_NOT_OK(GenerateRmat(rmat, context).status());
    Settings random = settings;
    random.input = {};
    random.input.edges = rmat.out + "/edges.parquet";
    random.input.random_features = kRandomColumns;
    random.graph.events = EventMode::kInsert;
    random.graph.window = 0;  // in the unit of another log
    random.embed.columns.reset();
    trials->push_back(EmbedTrial(random, "nodes of a random graph",
                                 static_cast<double>(std::int64_t{1} << rmat.scale)));
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::vector<Trial>> ScalingTrials(const Settings& pipeline, Laboratory& lab,
                                                const RunContext& context) {
  ARROW_RETURN_NOT_OK(RefuseValues(pipeline, "scaling"));
  Settings settings = pipeline;
  // The same task at every size, and no labels, which no embedding needs.
  settings.partition = {};
  settings.input.labels.clear();
  settings.input.split.clear();
  settings.snapshot.nodes = SnapshotNodes::kAll;
  settings.train = {};
  ARROW_ASSIGN_OR_RAISE(RunInputs inputs, RunInputs::Open(settings));
  std::vector<Trial> trials;
  const auto type = inputs.log.source->schema()->GetFieldByName(settings.input.time);
  // Limits of a log of dates are dates.
  if (type != nullptr && arrow::is_integer(type->type()->id())) {
    ARROW_RETURN_NOT_OK(AddRows(settings, inputs, &trials));
  } else {
    context.progress->Note("the times of the log are no numbers: rows are not varied");
  }
  const ColumnRange columns = inputs.columns;
  int last = 0;
  for (int share = 1; share <= kShares; ++share) {
    const int width = columns.size() * share / kShares;
    if (width <= last) continue;
    last = width;
    Settings slice = settings;
    slice.embed.columns = ColumnRange{columns.begin, columns.begin + width};
    trials.push_back(EmbedTrial(slice, "columns", width));
  }
  for (int threads = 1; threads <= NumThreads(settings); threads *= 2) {
    Settings some = settings;
    some.run.threads = threads;
    trials.push_back(EmbedTrial(some, "threads", threads));
  }
  ARROW_RETURN_NOT_OK(NumberNodes(settings, inputs, context));
  ARROW_RETURN_NOT_OK(AddNodes(settings, inputs, lab, context, &trials));
  return trials;
}

}  // namespace coden
