// Arrange a log by one of the paper's arrival patterns, as a log of signed events.
//
// A pattern needs the end of the log before its beginning, which no streaming pass over
// the original can give; so the arranged log is written to a file once, and every stage
// reads it as it reads any other (docs/adr/0006-patterns-are-logs.md).

#include "coden/experiment/pattern_log.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

#include "base/random_internal.h"
#include "coden/base/error.h"
#include "coden/base/runner.h"
#include "coden/graph/event_graph.h"
#include "coden/graph/unobserved.h"
#include "coden/pipeline/schedule_pass.h"
#include "coden/read/event_batch.h"
#include "coden/store/parquet_file.h"

namespace coden {

namespace {

struct Edge {
  NodeId src;
  NodeId dst;
  auto operator<=>(const Edge&) const = default;
};

// An edge that came or went.
struct Change {
  Edge edge;
  bool inserted;
};

// What the rows of one stretch of the log have done, without those that changed nothing.
using Batch = std::vector<Change>;

// The log cut at its prediction times. Batch 0 is the initial graph.
struct CutLog {
  std::vector<Batch> batches;
  std::vector<EventTime> times;  // of the end of each batch
  std::unique_ptr<NodeIdMap> nodes;
  std::shared_ptr<arrow::DataType> time_type;  // of the log
};

// Follow the log and keep what every row changes.
class ChangeLog {
 public:
  ChangeLog(const GraphOptions& options, const Schedule& schedule) : graph_(options) {
    for (const SchedulePoint& point : schedule) {
      if (point.prediction == 0 || point.at_prediction)
        ends_.push_back({point.events, point.time});
    }
    // An initial graph of no rows has no point of its own.
    if (schedule.empty() || schedule.front().prediction != 0)
      ends_.insert(ends_.begin(), {0, kNoTime});
    cut_.batches.resize(ends_.size());
    for (const auto& end : ends_) cut_.times.push_back(end.second);
  }

  arrow::Status Add(const EventView& events) {
    for (std::int64_t row = 0; row < events.size(); ++row, ++num_events_) {
      while (batch_ < ends_.size() && num_events_ >= ends_[batch_].first) ++batch_;
      if (batch_ == ends_.size()) return arrow::Status::OK();
      ARROW_RETURN_NOT_OK(Add(events[row]));
    }
    return arrow::Status::OK();
  }

  CutLog Take() { return std::move(cut_); }

 private:
  arrow::Status Add(const EdgeEvent& event) {
    Edge edge{event.src, event.dst};
    if (!graph_.options().directed && edge.src > edge.dst) std::swap(edge.src, edge.dst);
    graph_.Grow(std::max(event.src, event.dst) + 1);
    const bool before = graph_.graph().HasArc(edge.src, edge.dst);
    ARROW_RETURN_NOT_OK(graph_.Apply(event, nobody_));
    const bool after = graph_.graph().HasArc(edge.src, edge.dst);
    if (before != after) cut_.batches[batch_].push_back({edge, after});
    return arrow::Status::OK();
  }

  EventGraph graph_;
  Unobserved nobody_;
  std::vector<std::pair<std::int64_t, EventTime>> ends_;  // rows and time
  std::size_t batch_ = 0;
  std::int64_t num_events_ = 0;
  CutLog cut_;
};

arrow::Result<CutLog> CutAtPredictions(const Settings& settings,
                                       const RunContext& context) {
  ARROW_ASSIGN_OR_RAISE(RunInputs inputs, RunInputs::Open(settings));
  ARROW_ASSIGN_OR_RAISE(const SchedulePassResult pass,
                        RunSchedulePass(settings, inputs, context));
  EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes,
                     {.first_row = inputs.log.num_before, .late = {settings.input.late}});
  ChangeLog changes(settings.graph, pass.schedule);
  ARROW_ASSIGN_OR_RAISE(const auto source, inputs.log.Scan(settings.input.batch_rows));
  Operator* stages[] = {&reader};
  ARROW_RETURN_NOT_OK(Run(
      *source, stages,
      [&](const BatchPtr& batch) { return changes.Add(EventView(*batch)); }, context));
  CutLog cut = changes.Take();
  cut.nodes = std::move(inputs.nodes);
  const auto time = inputs.log.source->schema()->GetFieldByName(settings.input.time);
  const bool stamps = time != nullptr && time->type()->id() == arrow::Type::TIMESTAMP;
  cut.time_type = stamps ? time->type() : arrow::int64();
  return cut;
}

// The edges that a batch has brought in and that were there at its end.
std::vector<Edge> BroughtIn(const Batch& batch) {
  std::map<Edge, int> net;
  for (const Change& change : batch) net[change.edge] += change.inserted ? 1 : -1;
  std::vector<Edge> edges;
  for (const Change& change : batch) {
    int& count = net[change.edge];
    if (change.inserted && count > 0) edges.push_back(change.edge);
    if (change.inserted) count = 0;  // once
  }
  return edges;
}

std::vector<Batch> Declined(const CutLog& cut) {
  std::map<Edge, std::size_t> since;  // of the edges at the end, the row they came with
  std::size_t row = 0;
  for (const Batch& batch : cut.batches) {
    for (const Change& change : batch) {
      if (change.inserted) {
        since[change.edge] = row++;
      } else {
        since.erase(change.edge);
      }
    }
  }
  std::vector<std::pair<std::size_t, Edge>> all;
  all.reserve(since.size());
  for (const auto& [edge, when] : since) all.emplace_back(when, edge);
  std::sort(all.begin(), all.end());
  std::vector<Batch> steps(1);
  for (const auto& [when, edge] : all) steps.front().push_back({edge, true});
  for (std::size_t k = cut.batches.size() - 1; k > 0; --k) {
    Batch undone(cut.batches[k].rbegin(), cut.batches[k].rend());
    for (Change& change : undone) change.inserted = !change.inserted;
    steps.push_back(std::move(undone));
  }
  return steps;
}

std::vector<Batch> Balanced(const CutLog& cut, std::uint64_t seed) {
  SplitMix64 random(seed);
  const std::size_t num_steps = cut.batches.size() - 1;
  std::vector<std::vector<Edge>> brought;
  brought.reserve(cut.batches.size());
  for (const Batch& batch : cut.batches) brought.push_back(BroughtIn(batch));
  std::vector<std::int64_t> order(num_steps);
  std::iota(order.begin(), order.end(), std::int64_t{1});
  Shuffle(order, random);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(num_steps / 2);
  std::vector<std::int64_t> inside(order.begin(), middle);
  std::vector<std::int64_t> outside(middle, order.end());

  // An edge is there as long as one batch that is inside has brought it.
  std::map<Edge, int> held;
  const auto change = [&](std::int64_t batch, bool inserted, Batch* rows) {
    for (const Edge& edge : brought[batch]) {
      int& count = held[edge];
      const bool before = count > 0;
      count += inserted ? 1 : -1;
      if (before != (count > 0)) rows->push_back({edge, inserted});
    }
  };
  std::vector<Batch> steps(1);
  change(0, true, &steps.front());
  std::vector<std::int64_t> first = inside;
  std::sort(first.begin(), first.end());
  for (const std::int64_t batch : first) change(batch, true, &steps.front());
  for (std::size_t k = 0; k < num_steps; ++k) {
    Batch& rows = steps.emplace_back();
    const std::size_t in = random.Below(outside.size());
    change(outside[in], true, &rows);
    if (inside.empty()) break;  // one step has no batch to take back
    std::int64_t& out = inside[random.Below(inside.size())];
    change(out, false, &rows);
    std::swap(out, outside[in]);
  }
  return steps;
}

arrow::Status WriteRows(const CutLog& cut, const std::vector<Batch>& steps,
                        const InputOptions& input, const std::string& path) {
  std::vector<NodeId> src, dst;
  std::vector<EventTime> times;
  std::vector<std::int8_t> ops;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const auto step_rows = static_cast<std::int64_t>(steps[k].size());
    for (std::int64_t row = 0; row < step_rows; ++row) {
      const Change& change = steps[k][static_cast<std::size_t>(row)];
      src.push_back(change.edge.src);
      dst.push_back(change.edge.dst);
      ops.push_back(change.inserted ? 1 : -1);
      // In (t_(k-1), t_k], evenly; times of nanoseconds are too fine for doubles.
      __extension__ using Wide = __int128;
      const EventTime before = k == 0 ? cut.times[0] - 1 : cut.times[k - 1];
      const auto width = static_cast<Wide>(cut.times[k] - before - 1);
      times.push_back(before + 1 + static_cast<EventTime>(width * (row + 1) / step_rows));
    }
  }
  const auto num_rows = static_cast<std::int64_t>(times.size());
  ARROW_ASSIGN_OR_RAISE(const auto sources, cut.nodes->Take(src));
  ARROW_ASSIGN_OR_RAISE(const auto targets, cut.nodes->Take(dst));
  const auto schema = arrow::schema({
      arrow::field(input.src, cut.nodes->id_type(), /*nullable=*/false),
      arrow::field(input.dst, cut.nodes->id_type(), /*nullable=*/false),
      arrow::field(input.time, cut.time_type, /*nullable=*/false),
      arrow::field(input.op, arrow::int8(), /*nullable=*/false),
  });
  // Labels and feature updates with times must be able to go with it.
  ARROW_ASSIGN_OR_RAISE(
      const auto stamps,
      arrow::Int64Array(num_rows, arrow::Buffer::FromVector(std::move(times)))
          .View(cut.time_type));
  const auto signs = std::make_shared<arrow::Int8Array>(
      num_rows, arrow::Buffer::FromVector(std::move(ops)));
  const auto rows =
      arrow::RecordBatch::Make(schema, num_rows, {sources, targets, stamps, signs});
  return WriteParquetFile(path, path + ".part", *rows).status();
}

}  // namespace

arrow::Result<Settings> WritePatternLog(const Settings& settings, ArrivalPattern pattern,
                                        const std::string& path,
                                        const RunContext& context) {
  if (settings.graph.window > 0) {
    return UsageError(
        "an arranged log has deletions of its own: set `graph.window` to 0");
  }
  if (pattern == ArrivalPattern::kInclined) return settings;
  ARROW_ASSIGN_OR_RAISE(CutLog cut, CutAtPredictions(settings, context));
  if (cut.times.size() < 2) {
    return InputError("the log has no prediction time, so there is nothing to arrange: '",
                      settings.input.edges, "'");
  }
  // Without an initial graph the first rows still need a time before the first interval.
  if (cut.times[0] == kNoTime && cut.times[1] == 0) {
    return InputError("the first prediction time is 0, so that no time is left for what ",
                      "is there before it: set `partition.initial`: '",
                      settings.input.edges, "'");
  }
  if (cut.times[0] == kNoTime) cut.times[0] = cut.times[1] - 1;
  const std::vector<Batch> steps = pattern == ArrivalPattern::kDeclined
                                       ? Declined(cut)
                                       : Balanced(cut, settings.run.seed);
  ARROW_RETURN_NOT_OK(WriteRows(cut, steps, settings.input, path));
  Settings arranged = settings;
  arranged.input.edges = path;
  arranged.input.from.clear();
  arranged.input.until.clear();
  arranged.graph.events = EventMode::kSigned;
  arranged.graph.lenient = false;
  arranged.partition = {};
  arranged.partition.initial = InitialBefore{cut.times[0] + 1};
  arranged.partition.times.assign(cut.times.begin() + 1, cut.times.end());
  return arranged;
}

}  // namespace coden
