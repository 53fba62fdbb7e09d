// The second pass over the log, which replays it against the schedule, once or for one
// slice of the columns after another. What it is made of is decided here, in flow order.

#include "coden/pipeline/embed_pass.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>

#include "coden/pipeline/resources.h"
#include "coden/pipeline/runner.h"
#include "coden/read/labels.h"
#include "coden/report/printable.h"
#include "coden/snapshot/node_filter.h"
#include "coden/state/saved_columns.h"
#include "coden/state/saved_graph.h"
#include "coden/store/run_layout.h"
#include "embed/column_spill_internal.h"

namespace coden {

namespace {

// The embedding can be interrupted between two batches and moves its bar by them, so its
// batches are short.
constexpr std::int64_t kEmbedBatchRows = 4096;

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

// Where the columns of a slice wait: in the run's stage, which a killed run's successor
// clears, or on the local disk where the run is elsewhere.
std::string SpillPath(const RunStore& store, int first_column) {
  const std::string name = "columns-" + std::to_string(first_column) + ".f32";
  if (store.local()) return store.LocalPath(std::string(RunLayout::kStage) + "/" + name);
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  if (failed) folder = "/tmp";
  return (folder / ("coden-" + std::to_string(::getpid()) + "-" + name)).string();
}

// One embedder for each slice, all of which replay the same rows.
class EmbedPasses {
 public:
  EmbedPasses(const Settings& settings, RunInputs& inputs, const EmbedTask& task,
              RunStore& store, EmbedObserver& observer, const RunContext& context)
      : settings_(settings),
        inputs_(inputs),
        task_(task),
        store_(store),
        observer_(observer),
        context_(context),
        slices_(Slices(inputs.columns, task.columns_per_pass)) {}

  arrow::Result<EmbedPassResult> Run() {
    // Stages on different threads share the node ids.
    inputs_.nodes->Freeze();
    SnapshotWriter writer(settings_.snapshot, store_, task_.schedule, *inputs_.nodes,
                          inputs_.columns.size(), task_.provenance,
                          task_.progress.num_snapshots, [this](WrittenSnapshot written) {
                            bytes_ += written.file.size;
                            errors_added_.push_back(written.error_added);
                            return observer_.OnWritten(std::move(written));
                          });
    Labels labels;
    std::optional<NodeFilter> filter;
    if (settings_.snapshot.nodes == SnapshotNodes::kLabelled) {
      ARROW_ASSIGN_OR_RAISE(labels, ReadLabels(settings_.input));
      filter.emplace(*labels.nodes);
    }

    std::vector<std::unique_ptr<ColumnSpill>> spills;
    for (const ColumnRange& slice : slices_) {
      std::vector<Operator*> outlet;
      if (filter) outlet.push_back(&*filter);
      std::optional<ColumnSpiller> spiller;
      std::optional<ColumnJoiner> joiner;
      if (slice.end < inputs_.columns.end) {
        ARROW_ASSIGN_OR_RAISE(
            auto spill,
            ColumnSpill::Create(SpillPath(store_, slice.begin), slice.size()));
        outlet.push_back(&spiller.emplace(*spills.emplace_back(std::move(spill))));
      } else {
        if (!spills.empty()) outlet.push_back(&joiner.emplace(spills));
        if (task_.before_writer != nullptr) outlet.push_back(task_.before_writer);
        outlet.push_back(&writer);
      }
      ARROW_RETURN_NOT_OK(RunSlice(slice, outlet));
    }
    // The worst column of the embedding need not be the one that lost most: the sum of
    // both is a bound for every column.
    for (std::size_t i = 0; i < result_.error_bounds.size(); ++i)
      result_.error_bounds[i] += errors_added_[i];
    AddFigures();
    return std::move(result_);
  }

 private:
  bool one_pass() const { return slices_.size() == 1; }

  arrow::Result<std::unique_ptr<Embedder>> MakeEmbedder(const ColumnRange& slice) {
    const int done = task_.progress.num_snapshots;
    EmbedderOptions options{settings_.embed, settings_.graph, slice, context_.stop,
                            inputs_.columns.size()};
    for (NodeId node = 0; node < static_cast<NodeId>(inputs_.saved.size()); ++node) {
      const std::int32_t since = inputs_.saved[node].features_since;
      if (since >= 0 && since <= done) options.initial_nodes.push_back(node);
    }
    if (one_pass()) {
      options.after_snapshot = [this](int snapshot) {
        return observer_.OnEmbedded(snapshot, *embedder_);
      };
    }
    ARROW_ASSIGN_OR_RAISE(
        auto embedder,
        Embedder::Make(options, task_.schedule, inputs_.features, *inputs_.nodes));
    if (done > 0) {
      ARROW_RETURN_NOT_OK(embedder->ContinueAfter(done));
      ARROW_RETURN_NOT_OK(LoadGraph(store_, *embedder));
      // Saved columns are numbered within the run's.
      const int first = inputs_.columns.begin;
      ARROW_RETURN_NOT_OK(LoadColumns(
          store_, task_.progress, {slice.begin - first, slice.end - first}, *embedder));
    }
    return embedder;
  }

  // Replay the log for the columns of `slice` and send every snapshot through `outlet`.
  arrow::Status RunSlice(const ColumnRange& slice, std::span<Operator* const> outlet) {
    ARROW_ASSIGN_OR_RAISE(embedder_, MakeEmbedder(slice));
    const int done = task_.progress.num_snapshots;
    const std::int64_t first_row =
        task_.progress.RowAfter(done == 0 ? 0 : task_.schedule[done - 1].events);
    const std::int64_t end_row =
        task_.progress.log.empty() ? 0 : task_.progress.log.back().end_row();
    EventReader reader(settings_.input.edges, settings_.graph.events, *inputs_.nodes,
                       inputs_.log.num_before + first_row);
    ARROW_ASSIGN_OR_RAISE(
        const auto source,
        inputs_.log.Scan(
            std::min<std::int64_t>(settings_.input.batch_rows, kEmbedBatchRows),
            first_row, end_row));
    std::string step = "embed";
    if (!one_pass()) {
      const auto number =
          &*std::find_if(slices_.begin(), slices_.end(),
                         [&](const auto& s) { return s.begin == slice.begin; }) -
          slices_.data() + 1;
      step += " " + std::to_string(number) + "/" + std::to_string(slices_.size());
    }
    context_.progress->Begin(step, "rows", end_row - first_row);
    std::vector<Operator*> stages = {&reader, embedder_.get()};
    stages.insert(stages.end(), outlet.begin(), outlet.end());
    const auto discard = [](const BatchPtr&) { return arrow::Status::OK(); };
    ARROW_ASSIGN_OR_RAISE(const PassTimes times,
                          coden::Run(*source, stages, discard, context_,
                                     {.read_ahead_of = 1, .write_behind_from = 2}));
    embed_seconds_ += times.source + times.stages[0] + times.stages[1];
    outlet_seconds_ += std::accumulate(times.stages.begin() + 2, times.stages.end(), 0.0);
    const std::vector<double>& bounds = embedder_->figures().error_bounds;
    result_.error_bounds.resize(bounds.size(), 0.0);
    for (std::size_t i = 0; i < bounds.size(); ++i)
      result_.error_bounds[i] = std::max(result_.error_bounds[i], bounds[i]);
    const std::vector<SolveWork>& work = embedder_->figures().work;
    result_.work.resize(work.size());
    for (std::size_t i = 0; i < work.size(); ++i) result_.work[i].Add(work[i]);
    context_.progress->End(
        CountOf(static_cast<std::int64_t>(bounds.size()), "snapshots") + " of " +
        CountOf(slice.size(), "columns") + ", " + BoundText(bounds));
    return KeepState(slice);
  }

  arrow::Status KeepState(const ColumnRange& slice) {
    const ColumnRange columns{slice.begin - inputs_.columns.begin,
                              slice.end - inputs_.columns.begin};
    ARROW_ASSIGN_OR_RAISE(auto numbers, StageColumns(store_, *embedder_, columns));
    result_.state.push_back(std::move(numbers));
    result_.column_files.push_back(columns);
    const EngineMemory memory = embedder_->engine().Memory();
    EngineMemory& all = result_.engine;
    all.pushed = memory.pushed;
    all.bounds.insert(all.bounds.end(), memory.bounds.begin(), memory.bounds.end());
    all.in_double.insert(all.in_double.end(), memory.in_double.begin(),
                         memory.in_double.end());
    if (slice.end < inputs_.columns.end) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto graph, StageGraph(store_, *embedder_));
    result_.state.insert(result_.state.end(), graph.begin(), graph.end());
    return arrow::Status::OK();
  }

  void AddFigures() {
    const std::string snapshots =
        CountOf(static_cast<std::int64_t>(result_.error_bounds.size()), "snapshots");
    std::string taken = snapshots + ", " + CountOf(inputs_.columns.size(), "columns");
    if (!one_pass()) {
      taken += " in " + CountOf(static_cast<std::int64_t>(slices_.size()), "passes");
    }
    result_.figures = {
        {"embed", taken, BoundText(result_.error_bounds), embed_seconds_, PeakMemory()},
        {"snapshot", snapshots, CountOf((bytes_ + 500'000) / 1'000'000, "MB"),
         outlet_seconds_, PeakMemory()},
    };
  }

  const Settings& settings_;
  RunInputs& inputs_;
  const EmbedTask& task_;
  RunStore& store_;
  EmbedObserver& observer_;
  const RunContext& context_;
  const std::vector<ColumnRange> slices_;
  std::unique_ptr<Embedder> embedder_;
  std::int64_t bytes_ = 0;
  std::vector<double> errors_added_;  // by the writer, of every snapshot it has written
  double embed_seconds_ = 0.0;
  double outlet_seconds_ = 0.0;
  EmbedPassResult result_;
};

}  // namespace

arrow::Result<EmbedPassResult> RunEmbedPasses(const Settings& settings, RunInputs& inputs,
                                              const EmbedTask& task, RunStore& store,
                                              EmbedObserver& observer,
                                              const RunContext& context) {
  return EmbedPasses(settings, inputs, task, store, observer, context).Run();
}

}  // namespace coden
