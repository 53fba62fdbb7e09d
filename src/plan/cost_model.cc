// What a run costs, from its size alone.
//
// Seconds are counts times rates. The counts follow from the method: a slice follows
// every change of the graph once, and solves for each snapshot by sweeps over all arcs,
// once for every block of 16 columns. A sweep of a symmetric graph reduces the error by
// about w - 1, w the relaxation (sweep_plan.cc), and starts from the shift since the
// snapshot before, which the schedule bounds by sigma:
//     sweeps = kSlowness ln(sigma / epsilon) / ln(1 / (w - 1)) + one that proves.
// Updates that are small enough to be pushed cost less, so this is an estimate from above
// for logs with many small snapshots. An arc costs more where the rows it gathers do not
// stay in the cache.
//
// The rates are fitted to runs of three sizes on one machine (tests/bench/cost.py), which
// docs/scaling.md describes. Another machine is faster or slower by one factor, mostly
// that of its memory.

#include "coden/plan/cost_model.h"

#include <algorithm>
#include <cmath>

#include "coden/graph/degree_graph.h"
#include "coden/plan/resources.h"
#include "coden/store/parquet_file.h"

namespace coden {

namespace {

constexpr int kBlock = 16;

// Nanoseconds on one core.
constexpr double kScheduleRow = 130;  // read, decode, number, sample
constexpr double kChangeRow = 40;     // read from the history, merged into the graph
constexpr double kPlanArc = 10;       // what has changed; order and weights of the sweeps
constexpr double kArcInCache = 3.0;   // of a sweep over one block
constexpr double kArcInMemory = 6.3;
constexpr double kSliceNumber = 2;  // copied out and written to a slice
constexpr double kJoinNumber = 19;  // read from slices, encoded, compressed, written

// What a row and an arc cost more with every doubling of the nodes from here on, as ever
// more of what they visit misses the caches and the table of pages.
constexpr double kSmallNodes = 1 << 19;
constexpr double kRowDoubling = 40;
constexpr double kPlanDoubling = 6;

// Of a block of less than 16 columns: it reads half a line for half of the numbers.
constexpr double kNarrowBlock = 1.5;

// Part of its speed that a second core adds where both wait for the memory.
constexpr double kSecondCore = 0.75;

// Rows of one block that stay in the cache.
constexpr double kCacheBytes = 16e6;
constexpr double kRowBytes = 64;

// Against the rate of a consistently ordered graph.
constexpr double kSlowness = 1.3;

// A described log: Parquet bytes of a row (two ids and a time) and of a number.
constexpr std::int64_t kLogRowBytes = 10;
constexpr std::int64_t kFeatureBytes = 4;
constexpr std::int64_t kIdBytes = 20;

// Of a change of the graph in the history, packed.
constexpr std::int64_t kChangeBytes = 4;

// Of the first pass: of a node, and of a process.
constexpr std::int64_t kScheduledNodeBytes = 160;
// Of the commit, beside the ids.
constexpr std::int64_t kJoinedNodeBytes = 24;
constexpr std::int64_t kFixedBytes = 320'000'000;

// Until the libraries are loaded, at the start of every step.
constexpr double kStartSeconds = 0.3;

double Seconds(double nanoseconds) { return kStartSeconds + nanoseconds * 1e-9; }

double Sweeps(const EmbedOptions& embed, double shift) {
  const double kept = 1.0 - embed.alpha;
  const double relaxation = 2.0 / (1.0 + std::sqrt(1.0 - kept * kept));
  const double start = std::clamp(shift, embed.epsilon, 1.0);
  return 2.0 +
         kSlowness * std::log(start / embed.epsilon) / std::log(1.0 / (relaxation - 1.0));
}

double ArcNanoseconds(std::int64_t nodes) {
  const double held = static_cast<double>(nodes) * kRowBytes;
  const double missed = held <= kCacheBytes ? 0.0 : 1.0 - kCacheBytes / held;
  return kArcInCache + (kArcInMemory - kArcInCache) * missed;
}

double Doublings(std::int64_t nodes) {
  return std::max(0.0, std::log2(static_cast<double>(nodes) / kSmallNodes));
}

// How much faster `tasks` independent parts are with `threads` threads.
double SpeedUp(int threads, int tasks) {
  const int used = std::min(threads, tasks);
  return used <= 1 ? 1.0 : 1.0 + kSecondCore * (used - 1);
}

std::int64_t SliceRowBytes(int columns, bool with_ids) {
  return columns * 4 + 4 + (with_ids ? 12 : 0);
}

StepCost ScheduleCost(const CostSize& size) {
  StepCost cost;
  std::int64_t edges = 0;
  for (const SchedulePoint& point : size.schedule)
    edges = std::max(edges, point.num_edges);
  // The table of edges, and the one before it while it grows.
  const std::int64_t table = DegreeGraph::GrowthBytes(/*arcs=*/0, edges);
  cost.memory_bytes = kFixedBytes + size.nodes * kScheduledNodeBytes + table + table / 2;
  // Twice: every input is hashed.
  cost.read_bytes = 2 * (size.log_bytes + size.feature_bytes);
  cost.write_bytes = size.nodes * 20 + size.rows * kChangeBytes;
  cost.seconds = Seconds((kScheduleRow + kRowDoubling * Doublings(size.nodes)) *
                         static_cast<double>(size.rows));
  return cost;
}

StepCost SliceCostOf(const Settings& settings, const CostSize& size,
                     const EmbeddingSize& embedding, const ColumnRange& columns) {
  const int blocks = (columns.size() + kBlock - 1) / kBlock;
  // Few columns are cut into narrower blocks.
  const bool narrow = blocks < embedding.threads && columns.size() > 4;
  const double faster =
      narrow ? SpeedUp(embedding.threads, columns.size() / 4) / kNarrowBlock
             : SpeedUp(embedding.threads, blocks);
  const int directions = settings.graph.directed ? 1 : 2;
  double nanoseconds = (kChangeRow + kRowDoubling * Doublings(size.nodes)) *
                       static_cast<double>(size.rows);
  for (auto i = static_cast<std::size_t>(size.num_done); i < size.schedule.size(); ++i) {
    const SchedulePoint& point = size.schedule[i];
    const double arcs = static_cast<double>(directions * point.num_edges);
    const double width = static_cast<double>(columns.size()) / kBlock;
    const double shift = i == 0 ? 1.0 : point.sigma;
    nanoseconds += arcs * (kPlanArc + kPlanDoubling * Doublings(point.num_nodes) +
                           Sweeps(settings.embed, shift) * width *
                               ArcNanoseconds(point.num_nodes) / faster);
  }
  const bool with_ids = columns.begin == size.columns.begin;
  nanoseconds += kSliceNumber * static_cast<double>(embedding.all_rows) * columns.size();
  StepCost cost;
  cost.memory_bytes = PassBytes(embedding, columns.size());
  // Features are compared with those of the schedule before they are used.
  cost.read_bytes = size.rows * kChangeBytes + 2 * size.feature_bytes + size.nodes * 20;
  cost.write_bytes = embedding.all_rows * SliceRowBytes(columns.size(), with_ids) +
                     size.nodes * columns.size() * 4;
  cost.seconds = Seconds(nanoseconds);
  return cost;
}

StepCost CommitCost(const Settings& settings, const CostSize& size,
                    const EmbeddingSize& embedding, int slices) {
  StepCost cost;
  const std::int64_t row_group =
      std::min(embedding.snapshot_rows, ParquetFileOptions().row_group_rows);
  // Batches of the slices, joined, on their way and being written.
  cost.memory_bytes = kFixedBytes + size.id_bytes + size.nodes * kJoinedNodeBytes +
                      row_group * embedding.columns * 8 + 7 * BatchBytes(embedding);
  cost.read_bytes = embedding.all_rows * (embedding.columns * 4 + 4 * slices + 12);
  cost.write_bytes = DiskBytes(settings, embedding, size.schedule.size() - size.num_done);
  cost.seconds =
      Seconds(kJoinNumber * static_cast<double>(embedding.all_rows) * embedding.columns);
  return cost;
}

void AddStep(const StepCost& step, StepCost* sum) {
  sum->memory_bytes = std::max(sum->memory_bytes, step.memory_bytes);
  sum->read_bytes += step.read_bytes;
  sum->write_bytes += step.write_bytes;
  sum->seconds += step.seconds;
}

}  // namespace

CostSize DescribedSize(const DescribedLog& log, const Settings& settings) {
  CostSize size;
  size.rows = log.edges;
  size.log_bytes = log.edges * kLogRowBytes;
  size.feature_bytes = log.nodes * log.columns * kFeatureBytes;
  size.nodes = log.nodes;
  size.id_bytes = log.nodes * kIdBytes;
  size.num_labelled = log.labelled > 0 ? log.labelled : log.nodes;
  size.columns = {0, log.columns};
  for (int i = 0; i < log.snapshots; ++i) {
    SchedulePoint point;
    point.snapshot = i;
    point.num_nodes = log.nodes;
    point.num_edges = log.edges / log.snapshots * (i + 1);
    point.events = point.num_edges;
    point.sigma = settings.sample.lambda;
    size.schedule.push_back(point);
  }
  return size;
}

StepCost RunCost::InTurn() const {
  StepCost sum;
  AddStep(schedule, &sum);
  for (const SliceCost& slice : slices) AddStep(slice.cost, &sum);
  AddStep(commit, &sum);
  return sum;
}

StepCost RunCost::AtOnce() const {
  StepCost sum = InTurn();
  double longest = 0.0;
  for (const SliceCost& slice : slices) longest = std::max(longest, slice.cost.seconds);
  sum.seconds = schedule.seconds + longest + commit.seconds;
  return sum;
}

std::vector<ColumnRange> CutColumns(const ColumnRange& columns, int count) {
  const int width = columns.size();
  count = std::clamp(count, 1, std::max(1, width));
  // The largest unit of which every slice can have one.
  int unit = kBlock;
  while (unit > 1 && width / unit < count) unit /= 2;
  const int units = (width + unit - 1) / unit;
  std::vector<ColumnRange> slices;
  for (int i = 0; i < count; ++i) {
    const int begin = units * i / count * unit;
    const int end = std::min(width, units * (i + 1) / count * unit);
    slices.push_back({columns.begin + begin, columns.begin + end});
  }
  return slices;
}

RunCost EstimateCost(const Settings& settings, const CostSize& size, int slices) {
  const EmbeddingSize embedding =
      EmbeddingSizeOf(settings, size.nodes, size.id_bytes, size.columns.size(),
                      size.schedule, size.num_labelled, size.num_done);
  RunCost cost;
  cost.schedule = ScheduleCost(size);
  for (const ColumnRange& columns : CutColumns(size.columns, slices))
    cost.slices.push_back({columns, SliceCostOf(settings, size, embedding, columns)});
  cost.commit =
      CommitCost(settings, size, embedding, static_cast<int>(cost.slices.size()));
  return cost;
}

}  // namespace coden
