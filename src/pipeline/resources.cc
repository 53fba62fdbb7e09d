#include "coden/pipeline/resources.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "coden/pipeline/error.h"

namespace coden {

namespace {

// Libraries, decoded batches in flight and the write buffers of one row group.
constexpr std::int64_t kFixedBytes = 200'000'000;

std::string Megabytes(std::int64_t bytes) {
  return std::to_string((bytes + 999'999) / 1'000'000) + " MB";
}

std::int64_t PhysicalMemory() {
  return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

ResourceEstimate EstimateResources(const Settings& settings, const RunInputs& inputs,
                                   const Schedule& schedule, std::int64_t num_labelled) {
  const bool labelled_only = settings.snapshot.nodes == SnapshotNodes::kLabelled;
  std::int64_t most_edges = 0;
  std::int64_t rows = 0;
  for (const SchedulePoint& point : schedule) {
    most_edges = std::max(most_edges, point.num_edges);
    rows += labelled_only ? std::min(point.num_nodes, num_labelled) : point.num_nodes;
  }
  const std::int64_t nodes = inputs.nodes->size();
  const std::int64_t columns = inputs.columns.size();
  const std::int64_t padded = (columns + 3) / 4 * 4;
  const std::int64_t arcs = settings.graph.directed ? most_edges : 2 * most_edges;

  ResourceEstimate estimate;
  estimate.memory_bytes = kFixedBytes + nodes * padded * 8  // x, g
                          + nodes * (24 + 8 + 48)  // adjacency heads, scale, id map
                          + arcs * 8;              // arcs with the slack of growth
  // Embeddings hardly compress: byte-stream-split and zstd save about a tenth.
  estimate.disk_bytes =
      rows * (columns * 4 + 2) + 2'000 * static_cast<std::int64_t>(schedule.size());
  return estimate;
}

std::int64_t MemoryLimit(const Settings& settings) {
  return settings.run.memory_limit > 0 ? settings.run.memory_limit : PhysicalMemory();
}

arrow::Status CheckResources(const Settings& settings, const ResourceEstimate& estimate) {
  const std::int64_t limit = MemoryLimit(settings);
  if (estimate.memory_bytes > limit) {
    return ResourceError(
        "the embedding needs about ", Megabytes(estimate.memory_bytes),
        " of memory; embed fewer columns at a time (`embed.columns`) or raise "
        "`run.memory_limit`: ",
        Megabytes(limit));
  }
  std::error_code error;
  std::filesystem::path place = settings.run.directory;
  while (!place.empty() && !std::filesystem::exists(place, error)) {
    const auto parent = place.parent_path();
    if (parent == place) break;
    place = parent;
  }
  const auto space = std::filesystem::space(place.empty() ? "." : place, error);
  if (!error && static_cast<std::uintmax_t>(estimate.disk_bytes) > space.available) {
    return ResourceError(
        "the snapshots need up to ", Megabytes(estimate.disk_bytes),
        " on disk; free some, write fewer rows (`snapshot.nodes = labelled`) or "
        "take fewer snapshots (`sample.lambda`): ",
        Megabytes(static_cast<std::int64_t>(space.available)), " are free");
  }
  return arrow::Status::OK();
}

}  // namespace coden
