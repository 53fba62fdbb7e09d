// The second pass, which follows the history through the schedule: for all columns, or
// for a slice of them that waits for the others. What a pass is made of is decided here,
// in flow order.

#include "coden/pipeline/embed_pass.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "coden/base/printable.h"
#include "coden/base/runner.h"
#include "coden/plan/resources.h"
#include "coden/read/labels.h"
#include "coden/state/history.h"
#include "coden/state/saved_columns.h"
#include "coden/store/run_layout.h"
#include "state/slice_rows_internal.h"

namespace coden {

namespace {

double WorstOf(const std::vector<double>& bounds) {
  return bounds.empty() ? 0.0 : *std::max_element(bounds.begin(), bounds.end());
}

std::string BoundText(const std::vector<double>& bounds) {
  return "error bound " + FormatScientific(WorstOf(bounds), 1) + " per node";
}

arrow::Status Discard(const BatchPtr&) { return arrow::Status::OK(); }

// Writes snapshots and keeps what is to be said of them.
class SnapshotOutlet {
 public:
  SnapshotOutlet(const Settings& settings, const RunInputs& inputs, const EmbedTask& task,
                 RunStore& store, std::vector<std::int64_t> num_rows,
                 EmbedObserver& observer)
      : task_(task),
        nodes_(*inputs.nodes),
        writer_(settings.snapshot, store, task.schedule, *inputs.nodes,
                inputs.columns.size(), task.provenance, task.progress.num_snapshots,
                std::move(num_rows), [this, &observer](WrittenSnapshot written) {
                  bytes_ += written.file.size;
                  errors_added_.push_back(written.error_added);
                  return observer.OnWritten(std::move(written));
                }) {}

  arrow::Status AddTo(std::vector<Operator*>* stages) {
    if (task_.cache != nullptr) {
      ARROW_RETURN_NOT_OK(task_.cache->Follow(nodes_));
      stages->push_back(task_.cache);
    }
    stages->push_back(&writer_);
    return arrow::Status::OK();
  }

  // The worst column of the embedding need not be the one that lost most: the sum of
  // both is a bound for every column.
  void AddErrors(std::vector<double>* bounds) const {
    for (std::size_t i = 0; i < bounds->size(); ++i) (*bounds)[i] += errors_added_[i];
  }

  StageFigure Figure(double seconds) const {
    const auto num_snapshots = static_cast<std::int64_t>(errors_added_.size());
    return {"snapshot",
            CountOf(num_snapshots, "snapshots"),
            CountOf((bytes_ + 500'000) / 1'000'000, "MB"),
            seconds,
            PeakMemory(),
            {{"snapshots", num_snapshots}, {"bytes", bytes_}}};
  }

 private:
  const EmbedTask& task_;
  const NodeIdMap& nodes_;
  std::int64_t bytes_ = 0;
  std::vector<double> errors_added_;  // of every snapshot that was written
  SnapshotWriter writer_;
};

// One pass over the history, with an embedder for some of the columns.
class EmbedPass {
 public:
  EmbedPass(const Settings& settings, RunInputs& inputs, const EmbedTask& task,
            const RunStore& store, const RunContext& context)
      : settings_(settings),
        inputs_(inputs),
        task_(task),
        store_(store),
        context_(context) {}

  // Go to where the task stands. Call before anything else.
  arrow::Status Open(const ColumnRange& columns,
                     std::function<arrow::Status(int)> after_snapshot = {}) {
    // Stages on different threads share the node ids.
    inputs_.nodes->Freeze();
    const int done = task_.progress.num_snapshots;
    EmbedderOptions options{settings_.embed, settings_.graph.directed, columns,
                            context_.stop, inputs_.columns.size()};
    ARROW_ASSIGN_OR_RAISE(options.chosen, ChosenNodes(settings_, *inputs_.nodes));
    options.after_snapshot = std::move(after_snapshot);
    const auto times = inputs_.Times();
    num_rows_ = RowCounts(task_.schedule, done, *times, options.chosen);
    ARROW_ASSIGN_OR_RAISE(
        History history,
        History::Open(store_, RunLayout::kHistory, task_.history, inputs_.nodes->size()));
    history_.emplace(std::move(history));
    ARROW_ASSIGN_OR_RAISE(embedder_,
                          Embedder::Make(options, task_.schedule, done, times, *history_,
                                         inputs_.features, *inputs_.nodes));
    return done == 0 ? arrow::Status::OK()
                     : LoadColumns(store_, task_.progress, OfTheRun(columns), *embedder_);
  }

  const Embedder& embedder() const { return *embedder_; }
  /// Of every snapshot to come.
  const std::vector<std::int64_t>& num_rows() const { return num_rows_; }

  // Send every snapshot through `outlet`. Returns the seconds that the outlet was at
  // work.
  arrow::Result<double> Run(const std::string& step, std::span<Operator* const> outlet) {
    context_.progress->Begin(
        step, "rows",
        std::accumulate(num_rows_.begin(), num_rows_.end(), std::int64_t{0}));
    ARROW_ASSIGN_OR_RAISE(
        const PassTimes times,
        coden::Run(*embedder_, outlet, Discard, context_, {.write_behind_from = 0}));
    seconds_ = times.source;
    const std::vector<double>& bounds = embedder_->figures().error_bounds;
    context_.progress->End(
        CountOf(static_cast<std::int64_t>(bounds.size()), "snapshots") + " of " +
        CountOf(embedder_->engine().num_columns(), "columns") + ", " + BoundText(bounds));
    return std::accumulate(times.stages.begin(), times.stages.end(), 0.0);
  }

  // What the pass leaves, but for its rows.
  arrow::Result<SavedSlice> Leave(RunStore& store) const {
    SavedSlice slice;
    slice.columns = embedder_->options().columns;
    slice.error_bounds = embedder_->figures().error_bounds;
    slice.work = embedder_->figures().work;
    slice.engine = embedder_->engine().Memory();
    slice.seconds = seconds_;
    slice.peak_bytes = PeakMemory();
    ARROW_ASSIGN_OR_RAISE(slice.state.emplace_back(),
                          StageColumns(store, *embedder_, OfTheRun(slice.columns)));
    return slice;
  }

 private:
  // Saved columns are numbered within the run's.
  ColumnRange OfTheRun(const ColumnRange& columns) const {
    return {columns.begin - inputs_.columns.begin, columns.end - inputs_.columns.begin};
  }

  const Settings& settings_;
  RunInputs& inputs_;
  const EmbedTask& task_;
  const RunStore& store_;
  const RunContext& context_;
  std::vector<std::int64_t> num_rows_;
  std::optional<History> history_;
  std::unique_ptr<Embedder> embedder_;
  double seconds_ = 0.0;
};

// What slices that lie side by side add up to, without figures and errors of writing.
EmbedPassResult SumOf(const std::vector<SavedSlice>& slices, int first_column) {
  EmbedPassResult result;
  for (const SavedSlice& slice : slices) {
    result.error_bounds.resize(slice.error_bounds.size(), 0.0);
    result.work.resize(slice.work.size());
    for (std::size_t i = 0; i < slice.error_bounds.size(); ++i) {
      result.error_bounds[i] = std::max(result.error_bounds[i], slice.error_bounds[i]);
      result.work[i].Add(slice.work[i]);
    }
    result.state.insert(result.state.end(), slice.state.begin(), slice.state.end());
    result.column_files.push_back(
        {slice.columns.begin - first_column, slice.columns.end - first_column});
    EngineMemory& all = result.engine;
    const EngineMemory& own = slice.engine;
    all.pushed = own.pushed;
    all.bounds.insert(all.bounds.end(), own.bounds.begin(), own.bounds.end());
    all.in_double.insert(all.in_double.end(), own.in_double.begin(), own.in_double.end());
  }
  return result;
}

StageFigure EmbedFigure(const std::vector<SavedSlice>& slices, int num_columns,
                        const std::vector<double>& bounds) {
  StageFigure figure;
  const auto num_snapshots = static_cast<std::int64_t>(bounds.size());
  const auto num_slices = static_cast<std::int64_t>(slices.size());
  figure.name = "embed";
  figure.taken =
      CountOf(num_snapshots, "snapshots") + ", " + CountOf(num_columns, "columns");
  if (num_slices > 1) figure.taken += " in " + CountOf(num_slices, "slices");
  figure.given = BoundText(bounds);
  figure.counts = {
      {"snapshots", num_snapshots}, {"columns", num_columns}, {"slices", num_slices}};
  figure.measures = {{"error_bound", WorstOf(bounds)}};
  for (const SavedSlice& slice : slices) {
    figure.seconds += slice.seconds;
    figure.peak_bytes = std::max(figure.peak_bytes, slice.peak_bytes);
  }
  return figure;
}

}  // namespace

arrow::Result<std::optional<std::vector<NodeId>>> ChosenNodes(const Settings& settings,
                                                              const NodeIdMap& nodes) {
  if (settings.snapshot.nodes != SnapshotNodes::kLabelled) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const Labels labels, ReadLabels(settings.input));
  ARROW_ASSIGN_OR_RAISE(const auto ids, labels.nodes->Ids(0, labels.nodes->size()));
  std::vector<NodeId> chosen;
  // Ids of another type are refused by the training itself.
  if (ids->type()->Equals(nodes.id_type())) {
    ARROW_RETURN_NOT_OK(nodes.Find(*ids, &chosen));
    std::erase(chosen, kNoNode);
    std::sort(chosen.begin(), chosen.end());
  }
  return chosen;
}

arrow::Result<EmbedPassResult> RunEmbedPass(const Settings& settings, RunInputs& inputs,
                                            const EmbedTask& task, RunStore& store,
                                            EmbedObserver& observer,
                                            const RunContext& context) {
  EmbedPass pass(settings, inputs, task, store, context);
  ARROW_RETURN_NOT_OK(pass.Open(inputs.columns, [&](int snapshot) {
    return observer.OnEmbedded(snapshot, pass.embedder());
  }));
  SnapshotOutlet snapshots(settings, inputs, task, store, pass.num_rows(), observer);
  std::vector<Operator*> outlet;
  ARROW_RETURN_NOT_OK(snapshots.AddTo(&outlet));
  ARROW_ASSIGN_OR_RAISE(const double writing, pass.Run("embed", outlet));
  ARROW_ASSIGN_OR_RAISE(SavedSlice all, pass.Leave(store));
  const std::vector<SavedSlice> slices = {std::move(all)};
  EmbedPassResult result = SumOf(slices, inputs.columns.begin);
  snapshots.AddErrors(&result.error_bounds);
  result.figures = {EmbedFigure(slices, inputs.columns.size(), result.error_bounds),
                    snapshots.Figure(writing)};
  return result;
}

arrow::Result<SavedSlice> RunSlicePass(const Settings& settings, RunInputs& inputs,
                                       const EmbedTask& task, const ColumnRange& columns,
                                       const std::string& step, RunStore& store,
                                       const RunContext& context) {
  SliceRowsWriter writer(store, /*with_nodes=*/columns.begin == inputs.columns.begin);
  Operator* outlet[] = {&writer};
  EmbedPass pass(settings, inputs, task, store, context);
  ARROW_RETURN_NOT_OK(pass.Open(columns));
  ARROW_RETURN_NOT_OK(pass.Run(step, outlet).status());
  ARROW_ASSIGN_OR_RAISE(SavedSlice slice, pass.Leave(store));
  slice.rows = writer.file();
  return slice;
}

arrow::Result<EmbedPassResult> RunJoinPass(const Settings& settings, RunInputs& inputs,
                                           const EmbedTask& task,
                                           const std::vector<SavedSlice>& slices,
                                           RunStore& store, EmbedObserver& observer,
                                           const RunContext& context) {
  inputs.nodes->Freeze();
  ARROW_ASSIGN_OR_RAISE(const auto chosen, ChosenNodes(settings, *inputs.nodes));
  SnapshotOutlet snapshots(
      settings, inputs, task, store,
      RowCounts(task.schedule, task.progress.num_snapshots, *inputs.Times(), chosen),
      observer);
  std::vector<Operator*> outlet;
  ARROW_RETURN_NOT_OK(snapshots.AddTo(&outlet));
  ARROW_ASSIGN_OR_RAISE(const auto rows, ReadSlices(store, slices));
  context.progress->Begin("snapshot", "rows", slices.front().rows.rows);
  ARROW_ASSIGN_OR_RAISE(const PassTimes times,
                        Run(*rows, outlet, Discard, context, {.read_ahead_of = 0}));
  EmbedPassResult result = SumOf(slices, inputs.columns.begin);
  snapshots.AddErrors(&result.error_bounds);
  const double seconds =
      std::accumulate(times.stages.begin(), times.stages.end(), times.source);
  result.figures = {EmbedFigure(slices, inputs.columns.size(), result.error_bounds),
                    snapshots.Figure(seconds)};
  context.progress->End(
      CountOf(static_cast<std::int64_t>(result.error_bounds.size()), "snapshots") +
      " from " + CountOf(static_cast<std::int64_t>(slices.size()), "slices"));
  return result;
}

}  // namespace coden
