// How well embeddings compress depends on what no summary of the inputs tells: which rows
// are still zeros because no feature has reached them, how many values coincide, how
// small they are for float16. So a sample is made and measured, with the stages of the
// run itself: up to 16 columns, spread over all, at up to 5 snapshots, spread over the
// schedule. Bytes per node between two of these are taken to change evenly.

#include "coden/pipeline/disk_estimate.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include <arrow/array.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "coden/base/printable.h"
#include "coden/base/runner.h"
#include "coden/pipeline/embed_pass.h"
#include "coden/snapshot/snapshot_writer.h"
#include "coden/state/fingerprint.h"
#include "coden/state/history.h"
#include "coden/state/saved_columns.h"
#include "coden/state/saved_nodes.h"
#include "coden/state/saved_work.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "store/hashing_file_internal.h"

namespace coden {

namespace {

constexpr int kSampleColumns = 16;
constexpr int kSampleSnapshots = 5;

// A place where files are counted and forgotten.
class CountingStore final : public RunStore {
 public:
  CountingStore() : RunStore({}, nullptr, {}) {}

  bool local() const override { return false; }
  std::string LocalPath(std::string_view) const override { return {}; }
  arrow::Status Prepare() override { return arrow::Status::OK(); }
  arrow::Result<std::shared_ptr<HashingFile>> Create(std::string_view) override {
    return HashingFile::Wrap(std::make_shared<arrow::io::MockOutputStream>());
  }
  arrow::Status Move(std::string_view, std::string_view) override {
    return arrow::Status::OK();
  }
  arrow::Status Copy(std::string_view, std::string_view) override {
    return arrow::Status::OK();
  }
  arrow::Status Remove(std::string_view) override { return arrow::Status::OK(); }
  arrow::Result<bool> CreateNew(std::string_view, std::string_view) override {
    return true;
  }
  arrow::Status SyncStage() override { return arrow::Status::OK(); }
};

// Places spread over a schedule, its first and last among them.
std::vector<std::size_t> SpreadOver(std::size_t num_snapshots) {
  std::vector<std::size_t> places;
  const std::size_t steps =
      std::min<std::size_t>(num_snapshots - 1, kSampleSnapshots - 1);
  for (std::size_t step = 0; step <= steps; ++step)
    places.push_back(steps == 0 ? 0 : step * (num_snapshots - 1) / steps);
  return places;
}

// The graphs of some snapshots of a schedule, which are numbered anew.
class SampledGraphs : public GraphSource {
 public:
  SampledGraphs(History history, const std::vector<int>& snapshots)
      : history_(std::move(history)), snapshots_(snapshots) {}

  arrow::Status Load(int, SnapshotGraph&) override {
    return arrow::Status::NotImplemented("a sample begins at the first snapshot");
  }
  arrow::Status AdvanceTo(int snapshot, SnapshotGraph& graph) override {
    return history_.AdvanceTo(snapshots_[snapshot], graph);
  }

 private:
  History history_;
  const std::vector<int>& snapshots_;
};

class Sampling {
 public:
  Sampling(const Settings& settings, RunInputs& inputs, const SchedulePassResult& pass,
           const RunStore& history, const RunContext& context)
      : settings_(settings),
        inputs_(inputs),
        pass_(pass),
        history_store_(history),
        context_(context) {
    // Every file is measured on its own, and with all its rows.
    settings_.snapshot.mode = SnapshotMode::kFull;
    settings_.embed.audit = 0;
  }

  arrow::Result<DiskEstimate> Measure() {
    DiskEstimate estimate;
    if (pass_.schedule.empty()) return estimate;
    ARROW_RETURN_NOT_OK(Embed());
    ARROW_RETURN_NOT_OK(MeasureParts());
    estimate.snapshot_bytes = SnapshotBytes();
    estimate.first_bytes =
        empty_bytes_ +
        static_cast<std::int64_t>(BytesPerNode(0) *
                                  static_cast<double>(pass_.schedule.front().num_nodes));
    ARROW_ASSIGN_OR_RAISE(estimate.state_bytes, StateBytes());
    return estimate;
  }

 private:
  double share() const {  // of the columns that are in the sample
    return static_cast<double>(embedder_->options().num_columns()) /
           std::max(1, inputs_.columns.size());
  }

  // Embed the sample and note the size of every file.
  arrow::Status Embed() {
    places_ = SpreadOver(pass_.schedule.size());
    for (const std::size_t place : places_) {
      snapshots_.push_back(pass_.schedule[place].snapshot);
      sample_.push_back(pass_.schedule[place]);
      sample_.back().snapshot = static_cast<int>(sample_.size()) - 1;
    }
    const int width = inputs_.columns.size();
    EmbedderOptions options{settings_.embed, settings_.graph.directed, inputs_.columns,
                            context_.stop};
    options.column_step = std::max(1, width / kSampleColumns);
    options.columns.end =
        std::min(options.columns.end,
                 options.columns.begin + kSampleColumns * options.column_step);
    inputs_.nodes->Freeze();
    ARROW_ASSIGN_OR_RAISE(options.chosen, ChosenNodes(settings_, *inputs_.nodes));
    ARROW_ASSIGN_OR_RAISE(History history,
                          History::Open(history_store_, RunLayout::kHistory, pass_.state,
                                        inputs_.nodes->size()));
    graphs_ = std::make_unique<SampledGraphs>(std::move(history), snapshots_);
    const auto times = TimesOfSample();
    ARROW_ASSIGN_OR_RAISE(
        embedder_, Embedder::Make(options, sample_, /*num_done=*/0, times, *graphs_,
                                  inputs_.features, *inputs_.nodes));
    const std::vector<std::int64_t> num_rows =
        RowCounts(sample_, /*num_done=*/0, *times, options.chosen);
    SnapshotWriter writer = Writer(sample_, options.num_columns(), num_rows, &files_);
    Operator* stages[] = {&writer};
    context_.progress->Begin(
        "sample of the snapshots", "rows",
        std::accumulate(num_rows.begin(), num_rows.end(), std::int64_t{0}));
    const auto discard = [](const BatchPtr&) { return arrow::Status::OK(); };
    ARROW_RETURN_NOT_OK(
        Run(*embedder_, stages, discard, context_, {.write_behind_from = 0}).status());
    context_.progress->End(
        CountOf(static_cast<std::int64_t>(sample_.size()), "snapshots of ") +
        CountOf(options.num_columns(), "columns"));
    return arrow::Status::OK();
  }

  // When nodes came, in the numbers of the sample.
  std::shared_ptr<const NodeTimes> TimesOfSample() const {
    NodeTimes times = *TimesOf(pass_.nodes, inputs_.nodes->size());
    for (std::int32_t& since : times.since) {
      if (since < 0) continue;
      const auto first = std::ranges::lower_bound(snapshots_, since);
      since = first == snapshots_.end()
                  ? -1
                  : static_cast<std::int32_t>(first - snapshots_.begin());
    }
    return std::make_shared<const NodeTimes>(std::move(times));
  }

  SnapshotWriter Writer(const Schedule& schedule, int width,
                        std::vector<std::int64_t> num_rows,
                        std::vector<FileRecord>* files) {
    return {settings_.snapshot,
            store_,
            schedule,
            *inputs_.nodes,
            width,
            {"", EmbedParameters(settings_), ""},
            /*num_done=*/0,
            std::move(num_rows),
            [files](WrittenSnapshot written) {
              files->push_back(std::move(written.file));
              return arrow::Status::OK();
            }};
  }

  // A file without rows.
  arrow::Result<std::int64_t> EmptyBytes(int width) {
    const Schedule one(1);
    std::vector<FileRecord> files;
    SnapshotWriter writer = Writer(one, width, {0}, &files);
    ARROW_RETURN_NOT_OK(writer.Bind(Embedder::OutputSchema()).status());
    ARROW_RETURN_NOT_OK(
        writer.Finish([](const BatchPtr&) { return arrow::Status::OK(); }));
    return files.front().size;
  }

  // What does not grow with the columns, and so must not be scaled with them.
  arrow::Status MeasureParts() {
    ARROW_ASSIGN_OR_RAISE(empty_bytes_, EmptyBytes(inputs_.columns.size()));
    ARROW_ASSIGN_OR_RAISE(empty_sample_bytes_,
                          EmptyBytes(embedder_->options().num_columns()));
    const NodeId num_nodes = inputs_.nodes->size();
    ARROW_ASSIGN_OR_RAISE(const auto ids, inputs_.nodes->Ids(0, num_nodes));
    const auto schema = arrow::schema({arrow::field("node", ids->type(), false)});
    ParquetFileOptions options;
    options.compression = settings_.snapshot.compression;
    std::int64_t sizes[2];
    for (const std::int64_t rows : {NodeId{0}, num_nodes}) {
      ARROW_ASSIGN_OR_RAISE(
          const FileRecord file,
          StageParquetFile(store_, "ids",
                           *arrow::RecordBatch::Make(schema, rows, {ids->Slice(0, rows)}),
                           options));
      sizes[rows > 0] = file.size;
    }
    bytes_per_id_ = num_nodes == 0 ? 0.0
                                   : static_cast<double>(sizes[1] - sizes[0]) /
                                         static_cast<double>(num_nodes);
    return arrow::Status::OK();
  }

  // Of a whole file of the sample, with all columns and without what an empty one has.
  double BytesPerNode(std::size_t i) const {
    const double ids = bytes_per_id_ * static_cast<double>(files_[i].rows);
    const double numbers =
        std::max(0.0, static_cast<double>(files_[i].size - empty_sample_bytes_) - ids);
    return (ids + numbers / share()) /
           static_cast<double>(std::max<std::int64_t>(1, sample_[i].num_nodes));
  }

  std::int64_t SnapshotBytes() const {
    double bytes = 0.0;
    std::size_t next = 0;  // of the sample, at or after the snapshot
    for (std::size_t place = 0; place < pass_.schedule.size(); ++place) {
      while (places_[next] < place) ++next;
      double rate = BytesPerNode(next);
      if (places_[next] > place) {
        const double way = static_cast<double>(place - places_[next - 1]) /
                           static_cast<double>(places_[next] - places_[next - 1]);
        rate = (1.0 - way) * BytesPerNode(next - 1) + way * rate;
      }
      bytes += static_cast<double>(empty_bytes_) +
               rate * static_cast<double>(pass_.schedule[place].num_nodes);
    }
    return static_cast<std::int64_t>(bytes);
  }

  arrow::Result<std::int64_t> StateBytes() {
    const ColumnRange columns{0, embedder_->options().num_columns()};
    ARROW_ASSIGN_OR_RAISE(const FileRecord numbers,
                          StageColumns(store_, *embedder_, columns));
    ARROW_ASSIGN_OR_RAISE(const FileRecord nodes,
                          StageNodes(store_, *inputs_.nodes, pass_.nodes));
    ARROW_ASSIGN_OR_RAISE(const auto rows, ScheduleToBatch(pass_.schedule));
    ARROW_ASSIGN_OR_RAISE(const FileRecord schedule,
                          StageParquetFile(store_, RunLayout::kSchedule, *rows));
    // Times differ from run to run, and with them how well they compress.
    std::vector<SolveWork> figures = embedder_->figures().work;
    for (SolveWork& one : figures) one.seconds = 0.1;
    ARROW_ASSIGN_OR_RAISE(const FileRecord work, StageWork(store_, figures));
    // The schedule is kept twice: as planned, and as far as it has come.
    std::int64_t bytes =
        nodes.size + 2 * schedule.size + work.size +
        static_cast<std::int64_t>(static_cast<double>(numbers.size) / share());
    for (const FileRecord& file : pass_.state) bytes += file.size;
    return bytes;
  }

  Settings settings_;
  RunInputs& inputs_;
  const SchedulePassResult& pass_;
  const RunStore& history_store_;
  const RunContext& context_;
  CountingStore store_;
  std::vector<std::size_t> places_;  // in the schedule, of the snapshots of the sample
  std::vector<int> snapshots_;       // their numbers
  Schedule sample_;                  // these, numbered from 0
  std::unique_ptr<SampledGraphs> graphs_;
  std::unique_ptr<Embedder> embedder_;
  std::vector<FileRecord> files_;  // by snapshot of the sample
  std::int64_t empty_bytes_ = 0;
  std::int64_t empty_sample_bytes_ = 0;
  double bytes_per_id_ = 0.0;
};

}  // namespace

arrow::Result<DiskEstimate> EstimateDisk(const Settings& settings, RunInputs& inputs,
                                         const SchedulePassResult& pass,
                                         const RunStore& store,
                                         const RunContext& context) {
  return Sampling(settings, inputs, pass, store, context).Measure();
}

DiskEstimate EstimateDiskOfRest(const PartRecord& embedded, const Schedule& schedule,
                                int num_done) {
  std::int64_t snapshot_bytes = 0;
  std::int64_t state_bytes = 0;
  for (const FileRecord& file : embedded.files) {
    const bool is_snapshot = file.path.starts_with(RunLayout::kSnapshots);
    (is_snapshot ? snapshot_bytes : state_bytes) += file.size;
  }
  std::int64_t nodes_done = 0;
  std::int64_t nodes_to_come = 0;
  for (int i = 0; i < static_cast<int>(schedule.size()); ++i)
    (i < num_done ? nodes_done : nodes_to_come) += schedule[i].num_nodes;
  if (nodes_done == 0) return {};
  const double bytes_per_node =
      static_cast<double>(snapshot_bytes) / static_cast<double>(nodes_done);
  const double growth =
      static_cast<double>(schedule.back().num_nodes) /
      static_cast<double>(std::max<std::int64_t>(1, schedule[num_done - 1].num_nodes));
  DiskEstimate estimate;
  estimate.snapshot_bytes =
      static_cast<std::int64_t>(bytes_per_node * static_cast<double>(nodes_to_come));
  // Those that are there were made in the same mode.
  estimate.first_bytes = estimate.snapshot_bytes;
  estimate.state_bytes =
      static_cast<std::int64_t>(static_cast<double>(state_bytes) * growth);
  return estimate;
}

}  // namespace coden
