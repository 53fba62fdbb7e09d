#include "coden/pipeline/resources.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "coden/embed/event_buffer.h"
#include "coden/pipeline/error.h"
#include "coden/store/parquet_file.h"

namespace coden {

namespace {

// Libraries, and what reads the log.
constexpr std::int64_t kFixedBytes = 290'000'000;

// Numbers of a batch of snapshot rows, batches that wait between two threads, and bytes
// of them (embedder.cc, handover_internal.h).
constexpr std::int64_t kBatchNumbers = 1 << 23;
constexpr std::int64_t kWaitingBatches = 8;
constexpr std::int64_t kWaitingBytes = 64'000'000;

// Below it float32 cannot hold the error of features of unit scale (docs/performance.md).
constexpr double kFloatEpsilon = 5e-8;

// Of a neighbour in its list, with slack: at most 7 (dynamic_graph.cc).
constexpr std::int64_t kNeighbourBytes = 7;

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

std::string Megabytes(std::int64_t bytes) {
  return std::to_string((bytes + 999'999) / 1'000'000) + " MB";
}

std::int64_t PhysicalMemory() {
  return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

std::int64_t EmbeddingBytes(const EmbeddingSize& size, int columns) {
  // Features and embedding; in double the float32 columns are still there while they
  // move.
  const std::int64_t value_bytes = size.in_double ? 4 + 4 + 4 + 8 : 4 + 4;
  // The plan of a sweep and what its making needs; one for a symmetric graph is the copy
  // that it is made from.
  const std::int64_t sweeps = size.arcs * (size.symmetric ? 4 : 8) +
                              size.nodes * (36 + (size.symmetric ? 16 : 60));
  // A push keeps one row of doubles for each node it touches, gives up before it touches
  // many, and leaves nothing to the sweeps.
  const int block = std::min(kColumnStep, Lanes(columns));
  const std::int64_t pushes = size.nodes * size.threads * (4 + block * 8 / 4);
  return size.nodes * Lanes(columns) * value_bytes
         // Neighbours with the slack of growth, and what they were before an update.
         + size.arcs * kNeighbourBytes +
         size.arcs_before * 4
         // Heads of the lists, rows and degrees.
         + size.nodes * (16 + 12) + std::max(sweeps, pushes);
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
  return kFixedBytes + in_flight + size.id_bytes + EventBuffer::MemoryBytes(size.events) +
         row_group * size.columns * 4  // held until the row group is whole
         + held * (size.columns * 4 + 4) + EmbeddingBytes(size, columns);
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
                              const Schedule& schedule, std::int64_t num_labelled) {
  const bool labelled_only = settings.snapshot.nodes == SnapshotNodes::kLabelled;
  const int directions = settings.graph.directed ? 1 : 2;
  EmbeddingSize size;
  size.nodes = nodes;
  size.id_bytes = id_bytes;
  size.columns = columns;
  size.threads = NumThreads(settings);
  size.in_double = settings.embed.epsilon < kFloatEpsilon;
  size.symmetric = !settings.graph.directed;
  size.in_deltas = settings.snapshot.mode == SnapshotMode::kDelta;
  std::int64_t before = 0;
  std::int64_t events_before = 0;
  std::int64_t most_held = -1;
  for (const SchedulePoint& point : schedule) {
    const std::int64_t rows =
        labelled_only ? std::min(point.num_nodes, num_labelled) : point.num_nodes;
    const std::int64_t arcs = directions * point.num_edges;
    if (arcs * (kNeighbourBytes + 4) + before * 4 > most_held) {
      most_held = arcs * (kNeighbourBytes + 4) + before * 4;
      size.arcs = arcs;
      size.arcs_before = before;
    }
    before = arcs;
    size.events = std::max(size.events, point.events - events_before);
    events_before = point.events;
    size.snapshot_rows = std::max(size.snapshot_rows, rows);
    size.all_rows += rows;
  }
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
         size.nodes * (std::int64_t{size.columns} * saved_bytes + 40) + size.arcs * 5;
}

ResourceEstimate EstimateResources(const Settings& settings, const RunInputs& inputs,
                                   const Schedule& schedule, std::int64_t num_labelled) {
  const EmbeddingSize size =
      EmbeddingSizeOf(settings, inputs.nodes->size(), inputs.nodes->MemoryBytes(),
                      inputs.columns.size(), schedule, num_labelled);
  ResourceEstimate estimate;
  const int slice = ColumnsPerPass(size, MemoryLimit(settings));
  estimate.columns_per_pass = slice;
  estimate.num_passes = std::max(1, (size.columns + slice - 1) / std::max(1, slice));
  estimate.memory_bytes = PassBytes(size, slice);
  estimate.disk_bytes = DiskBytes(settings, size, schedule.size());
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
  return settings.run.memory_limit > 0 ? settings.run.memory_limit : PhysicalMemory();
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

arrow::Status CheckResources(const Settings& settings, const ResourceEstimate& estimate) {
  const std::int64_t limit = MemoryLimit(settings);
  if (estimate.memory_bytes > limit) {
    return ResourceError(
        "the embedding needs about ", Megabytes(estimate.memory_bytes),
        " of memory even in passes of ", estimate.columns_per_pass, " columns; ",
        settings.run.memory_limit > 0 ? "raise `run.memory_limit`: "
                                      : "take a larger machine, this one has: ",
        Megabytes(limit));
  }
  std::error_code error;
  // An object store has room.
  if (settings.run.directory.find("://") != std::string::npos) return arrow::Status::OK();
  std::filesystem::path place = settings.run.directory;
  while (!place.empty() && !std::filesystem::exists(place, error)) {
    const auto parent = place.parent_path();
    if (parent == place) break;
    place = parent;
  }
  const auto space = std::filesystem::space(place.empty() ? "." : place, error);
  const std::int64_t disk_bytes = estimate.disk_bytes + estimate.temporary_bytes;
  if (!error && static_cast<std::uintmax_t>(disk_bytes) > space.available) {
    const std::string for_a_while =
        estimate.temporary_bytes == 0
            ? ""
            : ", with " + Megabytes(estimate.temporary_bytes) + " until the run ends";
    return ResourceError(
        "the snapshots need up to ", Megabytes(disk_bytes), " on disk", for_a_while,
        "; free some, write fewer rows (`snapshot.nodes = labelled`) or take fewer "
        "snapshots (`sample.lambda`): ",
        space.available / 1'000'000, " MB are free in '",
        place.empty() ? "." : place.string(), "'");
  }
  return arrow::Status::OK();
}

}  // namespace coden
