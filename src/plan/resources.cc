#include "coden/plan/resources.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "coden/base/error.h"
#include "coden/graph/degree_graph.h"
#include "coden/graph/edge_change.h"
#include "coden/store/parquet_file.h"
#include "store/machine_memory_internal.h"

namespace coden {

namespace {

// Libraries, and what the writers of files hold for themselves.
constexpr std::int64_t kProgramBytes = 78'000'000;
constexpr std::int64_t kWriterBytes = 25'000'000;

// Of the inputs: row groups as they are stored and as they are decoded, with what the
// allocators keep of them. Longer ones come in pieces. The first pass over the log holds
// so many times as much of it as is left afterwards.
constexpr std::int64_t kRowBytes = 24;
constexpr std::int64_t kNumberBytes = 16;
constexpr std::int64_t kMostOfLog = 30'000'000;
constexpr std::int64_t kMostOfFeatures = 90'000'000;
constexpr std::int64_t kFirstPass = 2;

// Numbers of a batch of snapshot rows, batches that wait between two threads, and bytes
// of them (embedder.cc, handover_internal.h).
constexpr std::int64_t kBatchNumbers = 1 << 23;
constexpr std::int64_t kWaitingBatches = 8;
constexpr std::int64_t kWaitingBytes = 64'000'000;

// Below it float32 cannot hold the error of features of unit scale (docs/performance.md).
constexpr double kFloatEpsilon = 5e-8;

// Of a neighbour: the base of lists and an overlay of a quarter (snapshot_graph.cc).
constexpr std::int64_t kNeighbourBytes = 5;
// Of a change while it is applied: itself, in a list that grows, and sorted once more by
// its other end.
constexpr std::int64_t kChangeBytes = 24;
// Of a node that the first pass knows (lazy_sampler.h, mass_bound_internal.h).
constexpr std::int64_t kSampledBytes = 40;

// Of a row of the log in the history: two nodes and what came of it, once more where the
// edge expires, and half of that again in whole graphs.
constexpr std::int64_t kHistoryRowBytes = 18;

// Passes take whole blocks of the solver.
constexpr int kColumnStep = 16;

constexpr int RoundUp(int columns) {
  return (columns + kColumnStep - 1) / kColumnStep * kColumnStep;
}

// Numbers that a row of these columns takes: narrow blocks have 4 or 8.
constexpr int Lanes(int columns) {
  return columns <= 4 ? 4 : columns <= 8 ? 8 : RoundUp(columns);
}

std::int64_t NumberBytes(const SnapshotOptions& snapshot) {
  return snapshot.precision == SnapshotPrecision::kFloat16 ? 2 : 4;
}

// Of an insertion that waits in the queue of a graph with a window, and of the edge that
// it leaves in a hash table with room to grow (event_graph.h).
constexpr std::int64_t kPendingBytes = 24;
constexpr std::int64_t kWindowEdgeBytes = 56;

// With a window: of the insertions that may be pending while the snapshots after the
// first `done` are made. Between two snapshots these are at most the events since the
// last snapshot that lies a window before the first of the two.
std::int64_t PendingBytes(EventTime window, const Schedule& schedule, std::size_t done) {
  if (window == 0) return 0;
  std::int64_t most = 0;
  std::size_t expired = 0;  // snapshots whose events have all expired
  for (std::size_t i = done; i < schedule.size(); ++i) {
    while (expired < i && schedule[expired].time <= schedule[i - 1].time - window)
      ++expired;
    const std::int64_t insertions =
        schedule[i].events - (expired == 0 ? 0 : schedule[expired - 1].events);
    const std::int64_t edges =
        i == 0 ? insertions
               : schedule[i - 1].num_edges + schedule[i].events - schedule[i - 1].events;
    most = std::max(most, insertions * kPendingBytes +
                              std::min(insertions, edges) * kWindowEdgeBytes);
  }
  return most;
}

// Neighbours, what they were before an update, and the heads of their lists.
std::int64_t GraphBytes(const EmbeddingSize& size) {
  return size.arcs * kNeighbourBytes + size.arcs_before * 4 + size.nodes * 16;
}

// Features and embedding, rows and degrees. In double the float32 columns are still there
// while they move.
std::int64_t ColumnBytes(const EmbeddingSize& size, int columns) {
  const std::int64_t value_bytes = size.in_double ? 4 + 4 + 4 + 8 : 4 + 4;
  return size.nodes * (Lanes(columns) * value_bytes + 12);
}

// While an update is solved.
std::int64_t SolverBytes(const EmbeddingSize& size, int columns) {
  // The plan of a sweep and what its making needs; one for a symmetric graph is the copy
  // that it is made from.
  const std::int64_t sweeps = size.arcs * (size.symmetric ? 4 : 8) +
                              size.nodes * (36 + (size.symmetric ? 16 : 60));
  // A push keeps one row of doubles for each node it touches, gives up before it touches
  // many, and leaves nothing to the sweeps.
  const int block = std::min(kColumnStep, Lanes(columns));
  const std::int64_t pushes = size.nodes * size.threads * (4 + block * 8 / 4);
  return std::max(sweeps, pushes);
}

// Bytes that are free for `run.directory`; none where nobody tells, as for an object
// store.
std::optional<std::int64_t> FindFreeDisk(const Settings& settings) {
  std::error_code error;
  if (settings.run.directory.find("://") != std::string::npos) return std::nullopt;
  std::filesystem::path place = settings.run.directory;
  while (!place.empty() && !std::filesystem::exists(place, error)) {
    const auto parent = place.parent_path();
    if (parent == place) break;
    place = parent;
  }
  if (place.empty()) place = ".";
  const auto space = std::filesystem::space(place, error);
  if (error) return std::nullopt;
  return static_cast<std::int64_t>(space.available);
}

std::string Megabytes(std::int64_t bytes) {
  return std::to_string((bytes + 999'999) / 1'000'000) + " MB";
}

}  // namespace

std::int64_t ProcessBytes(std::int64_t rows, std::int64_t nodes, int columns) {
  return kProgramBytes + kWriterBytes + std::min(rows * kRowBytes, kMostOfLog) +
         std::min(nodes * columns * kNumberBytes, kMostOfFeatures);
}

std::int64_t EmbeddingBytes(const EmbeddingSize& size, int columns) {
  return GraphBytes(size) + ColumnBytes(size, columns) +
         std::max(SolverBytes(size, columns), size.changes * kChangeBytes);
}

std::int64_t LabelEngineBytes(const Settings& settings, const Schedule& schedule,
                              const std::vector<EventTime>& windows,
                              std::int64_t engines_per_window, int columns) {
  if (schedule.empty()) return 0;
  std::int64_t bytes = 0;
  std::int64_t solver = 0;  // engines are brought up to date one after another
  for (const EventTime window : windows) {
    EmbeddingSize size =
        EmbeddingSizeOf(settings, 0, 0, columns, schedule, /*num_labelled=*/0);
    for (const SchedulePoint& point : schedule)
      size.nodes = std::max(size.nodes, point.num_nodes);
    const EventTime scheduled = settings.graph.window;
    if (scheduled > 0 && (window == 0 || window > scheduled)) {
      // More edges are there than the schedule tells, but no more than have come.
      size.arcs = schedule.back().events * (settings.graph.directed ? 1 : 2);
      size.arcs_before = size.arcs;
    }
    bytes += GraphBytes(size) + engines_per_window * ColumnBytes(size, columns) +
             size.nodes * 8;
    solver = std::max(solver, SolverBytes(size, columns));
  }
  return bytes + solver;
}

std::int64_t BatchBytes(const EmbeddingSize& size) {
  return 4 * std::min(size.snapshot_rows * size.columns, kBatchNumbers);
}

std::int64_t PassBytes(const EmbeddingSize& size, int columns) {
  const std::int64_t row_group =
      std::min(size.snapshot_rows, ParquetFileOptions().row_group_rows);
  const std::int64_t held = size.in_deltas ? 2 * size.snapshot_rows : 0;
  const std::int64_t batch = BatchBytes(size);
  // One is made, one is written, others wait.
  const std::int64_t in_flight =
      2 * batch + std::min(kWaitingBatches * batch, std::max(kWaitingBytes, batch));
  return ProcessBytes(size.rows, size.nodes, size.columns) + in_flight + size.id_bytes +
         // Pages and compressed pages, held until the row group is whole.
         2 * row_group * size.columns * 4 + held * (size.columns * 4 + 4) +
         EmbeddingBytes(size, columns);
}

std::int64_t FirstPassBytes(const EmbeddingSize& size) {
  return kProgramBytes + kFirstPass * std::min(size.rows * kRowBytes, kMostOfLog) +
         size.id_bytes + size.nodes * kSampledBytes +
         DegreeGraph::GrowthBytes(0, size.edges) * 3 / 2 +
         NetChanges::GrowthBytes(0, size.changes) * 3 / 2 + size.pending_bytes;
}

int ColumnsPerPass(const EmbeddingSize& size, std::int64_t limit) {
  if (PassBytes(size, size.columns) <= limit) return size.columns;
  int most = RoundUp(size.columns);
  while (most > kColumnStep && PassBytes(size, most) > limit) most -= kColumnStep;
  const int passes = (size.columns + most - 1) / most;
  return std::min(size.columns, RoundUp((size.columns + passes - 1) / passes));
}

EmbeddingSize EmbeddingSizeOf(const Settings& settings, std::int64_t nodes,
                              std::int64_t id_bytes, int columns,
                              const Schedule& schedule, std::int64_t num_labelled,
                              int num_done) {
  const bool labelled_only = settings.snapshot.nodes == SnapshotNodes::kLabelled;
  const int directions = settings.graph.directed ? 1 : 2;
  EmbeddingSize size;
  size.rows = schedule.empty() ? 0 : schedule.back().events;
  size.nodes = nodes;
  size.id_bytes = id_bytes;
  size.columns = columns;
  size.threads = NumThreads(settings);
  size.in_double = settings.embed.epsilon < kFloatEpsilon;
  size.symmetric = !settings.graph.directed;
  size.in_deltas = settings.snapshot.mode == SnapshotMode::kDelta;
  const auto done = static_cast<std::size_t>(num_done);
  std::int64_t before = done == 0 ? 0 : directions * schedule[done - 1].num_edges;
  std::int64_t events_before = done == 0 ? 0 : schedule[done - 1].events;
  std::int64_t most_held = -1;
  for (std::size_t i = done; i < schedule.size(); ++i) {
    const SchedulePoint& point = schedule[i];
    const std::int64_t rows =
        labelled_only ? std::min(point.num_nodes, num_labelled) : point.num_nodes;
    const std::int64_t arcs = directions * point.num_edges;
    if (arcs * (kNeighbourBytes + 4) + before * 4 > most_held) {
      most_held = arcs * (kNeighbourBytes + 4) + before * 4;
      size.arcs = arcs;
      size.arcs_before = before;
    }
    // With a window as many edges as are there may leave.
    const std::int64_t leaving = settings.graph.window > 0 ? before / directions : 0;
    size.changes = std::max(size.changes, point.events - events_before + leaving);
    size.edges = std::max(size.edges, point.num_edges);
    before = arcs;
    events_before = point.events;
    size.snapshot_rows = std::max(size.snapshot_rows, rows);
    size.all_rows += rows;
  }
  size.pending_bytes = PendingBytes(settings.graph.window, schedule, done);
  return size;
}

std::int64_t DiskBytes(const Settings& settings, const EmbeddingSize& size,
                       std::size_t num_snapshots) {
  if (num_snapshots == 0) return 0;
  // Numbers and ids, then what a file says of itself and of its columns.
  const std::int64_t row_bytes = NumberBytes(settings.snapshot) * size.columns + 10;
  const bool many_columns = settings.snapshot.layout == SnapshotLayout::kColumns;
  const std::int64_t file_bytes = 5'000 + (many_columns ? 250 * size.columns : 0);
  const int saved_bytes = size.in_double ? 8 : 4;
  return size.all_rows * row_bytes +
         file_bytes * static_cast<std::int64_t>(num_snapshots) +
         size.nodes * (std::int64_t{size.columns} * saved_bytes + 40) +
         size.rows * kHistoryRowBytes;
}

ResourceEstimate EstimateResources(const Settings& settings, const RunInputs& inputs,
                                   const Schedule& schedule, const LabelSize& labels,
                                   int num_done, bool then_trains) {
  EmbeddingSize size =
      EmbeddingSizeOf(settings, inputs.nodes->size(), inputs.nodes->MemoryBytes(),
                      inputs.columns.size(), schedule, labels.nodes, num_done);
  if (inputs.most_pending) {
    size.pending_bytes = std::min(
        size.pending_bytes, *inputs.most_pending * (kPendingBytes + kWindowEdgeBytes));
  }
  ResourceEstimate estimate;
  if (then_trains) {
    estimate.training = PlanTraining(
        settings, schedule,
        {labels.in_log, labels.classes, labels.facts, inputs.columns.size()});
  }
  estimate.kept_bytes = estimate.training ? estimate.training->cache_bytes : 0;
  const int slice = ColumnsPerPass(size, MemoryLimit(settings) - estimate.kept_bytes);
  estimate.columns_per_pass = slice;
  estimate.num_passes = std::max(1, (size.columns + slice - 1) / std::max(1, slice));
  estimate.memory_bytes = PassBytes(size, slice);
  estimate.first_pass_bytes = FirstPassBytes(size);
  estimate.disk_bytes = DiskBytes(settings, size, schedule.size() - num_done);
  // Slices wait for each other: numbers, and once the ids.
  if (estimate.num_passes > 1) {
    estimate.temporary_bytes =
        size.all_rows * (size.columns * 4 + 4 * estimate.num_passes + 12);
  }
  return estimate;
}

int NumThreads(const Settings& settings) {
  if (settings.run.threads > 0) return settings.run.threads;
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::int64_t MemoryLimit(const Settings& settings) {
  return settings.run.memory_limit > 0 ? settings.run.memory_limit : MachineMemory();
}

std::int64_t ResidentMemory() {
  std::ifstream pages("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  return pages >> all >> resident ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

std::int64_t PeakMemory() {
  // What getrusage says of a process counts what its parent held when it was forked.
  std::ifstream status("/proc/self/status");
  constexpr std::string_view kPeak = "VmHWM:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kPeak))
      return std::int64_t{1024} * std::strtoll(line.c_str() + kPeak.size(), nullptr, 10);
  }
  return 0;
}

bool DiskHasRoom(const Settings& settings, std::int64_t bytes) {
  const std::optional<std::int64_t> free = FindFreeDisk(settings);
  return !free || bytes <= *free;
}

arrow::Status CheckResources(const Settings& settings, const ResourceEstimate& estimate) {
  const std::int64_t limit = MemoryLimit(settings);
  const std::int64_t embedding_bytes = estimate.memory_bytes + estimate.kept_bytes;
  if (embedding_bytes > limit) {
    return ResourceError(
        "the embedding needs about ", Megabytes(embedding_bytes),
        " of memory even in passes of ", estimate.columns_per_pass, " columns; ",
        settings.run.memory_limit > 0 ? "raise `run.memory_limit`: "
                                      : "take a larger machine, this one has: ",
        Megabytes(limit));
  }
  if (estimate.training) ARROW_RETURN_NOT_OK(CheckTraining(settings, *estimate.training));
  const std::int64_t temporary_bytes = estimate.temporary_disk_bytes();
  const std::int64_t disk_bytes = estimate.disk_bytes + temporary_bytes;
  const std::optional<std::int64_t> free = FindFreeDisk(settings);
  if (!free || disk_bytes <= *free) return arrow::Status::OK();
  const std::string for_a_while =
      temporary_bytes == 0
          ? ""
          : ", with " + Megabytes(temporary_bytes) + " until the run ends";
  return ResourceError(
      "the ", estimate.training ? "run needs" : "snapshots need", " about ",
      Megabytes(disk_bytes), " on disk", for_a_while,
      "; free some, write fewer rows (`snapshot.nodes = labelled`) or take fewer "
      "snapshots (`sample.lambda`): ",
      *free / 1'000'000, " MB are free for '", settings.run.directory, "'");
}

}  // namespace coden
