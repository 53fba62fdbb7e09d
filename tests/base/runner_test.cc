#include "coden/base/runner.h"

#include <algorithm>
#include <random>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "coden/partition/partitioner.h"
#include "coden/read/edge_log.h"
#include "coden/sample/schedule_sampler.h"
#include "support/recut.h"

namespace coden {
namespace {

using Trace = std::vector<std::string>;

BatchPtr Numbers(const std::vector<std::int64_t>& numbers) {
  arrow::Int64Builder builder;
  EXPECT_TRUE(builder.AppendValues(numbers).ok());
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("n", arrow::int64())}),
                                  static_cast<std::int64_t>(numbers.size()),
                                  {builder.Finish().ValueOrDie()});
}

std::string Show(const arrow::RecordBatch& batch) {
  std::string text;
  const auto& numbers = static_cast<const arrow::Int64Array&>(*batch.column(0));
  for (std::int64_t row = 0; row < numbers.length(); ++row) {
    text += (row > 0 ? "," : "") + std::to_string(numbers.Value(row));
  }
  return text;
}

// Batches {1,2} and {3}, with a note in the trace for each read.
class TracedSource : public arrow::RecordBatchReader {
 public:
  explicit TracedSource(Trace* trace) : trace_(trace) {}
  std::shared_ptr<arrow::Schema> schema() const override { return Numbers({})->schema(); }
  arrow::Status ReadNext(BatchPtr* batch) override {
    trace_->push_back("read");
    if (next_ == batches_.size()) {
      *batch = nullptr;
    } else {
      *batch = batches_[next_++];
    }
    return arrow::Status::OK();
  }

 private:
  Trace* trace_;
  std::vector<BatchPtr> batches_ = {Numbers({1, 2}), Numbers({3})};
  std::size_t next_ = 0;
};

// Pass batches on and note every call; fail at the call named `fails_at`.
class TracedStage : public Operator {
 public:
  TracedStage(std::string name, Trace* trace, std::string fails_at = "")
      : name_(std::move(name)), trace_(trace), fails_at_(std::move(fails_at)) {}

  std::string_view name() const override { return name_; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override {
    ARROW_RETURN_NOT_OK(Note("bind"));
    return input;
  }
  arrow::Status Push(BatchPtr batch, const Emit& emit) override {
    ARROW_RETURN_NOT_OK(Note("push " + Show(*batch)));
    return emit(std::move(batch));
  }
  arrow::Status Finish(const Emit& emit) override {
    ARROW_RETURN_NOT_OK(Note("finish"));
    return emit(Numbers({9}));
  }

 private:
  arrow::Status Note(const std::string& call) {
    trace_->push_back(name_ + " " + call);
    return call == fails_at_ ? arrow::Status::IOError(name_, " broke") : arrow::Status();
  }

  std::string name_;
  Trace* trace_;
  std::string fails_at_;
};

class CountingProgress : public SilentProgress {
 public:
  void Advance(std::int64_t done) override { calls.push_back(done); }
  std::vector<std::int64_t> calls;
};

void CheckTrace(std::string a_fails_at, std::string b_fails_at, std::string sink_fails_at,
                const Trace& expected, std::string_view message) {
  SCOPED_TRACE(message);
  Trace trace;
  TracedSource source(&trace);
  TracedStage a("a", &trace, std::move(a_fails_at));
  TracedStage b("b", &trace, std::move(b_fails_at));
  Operator* stages[] = {&a, &b};
  const Emit sink = [&](const BatchPtr& batch) -> arrow::Status {
    trace.push_back("sink " + Show(*batch));
    if (trace.back() == sink_fails_at) return arrow::Status::IOError("sink broke");
    return arrow::Status::OK();
  };
  SilentProgress progress;
  const auto times = coden::Run(source, stages, sink, {&progress});
  EXPECT_EQ(trace, expected);
  EXPECT_EQ(times.status().message(), message);
}

TEST(Runner, BindsBeforeItReadsAndFinishesInFlowOrder) {
  CheckTrace("", "", "",
             {"a bind", "b bind", "read", "a push 1,2", "b push 1,2", "sink 1,2", "read",
              "a push 3", "b push 3", "sink 3", "read", "a finish", "b push 9", "sink 9",
              "b finish", "sink 9"},
             "");
}

TEST(Runner, StopsAtTheFirstError) {
  CheckTrace("", "bind", "", {"a bind", "b bind"}, "b broke");
  CheckTrace("", "push 1,2", "", {"a bind", "b bind", "read", "a push 1,2", "b push 1,2"},
             "b broke");
  CheckTrace("", "", "sink 3",
             {"a bind", "b bind", "read", "a push 1,2", "b push 1,2", "sink 1,2", "read",
              "a push 3", "b push 3", "sink 3"},
             "sink broke");
  CheckTrace("finish", "", "",
             {"a bind", "b bind", "read", "a push 1,2", "b push 1,2", "sink 1,2", "read",
              "a push 3", "b push 3", "sink 3", "read", "a finish"},
             "a broke");
}

TEST(Runner, CountsRowsOfTheSourceAndTimesEveryStage) {
  Trace trace;
  TracedSource source(&trace);
  TracedStage a("a", &trace);
  Operator* stages[] = {&a};
  CountingProgress progress;
  const auto times = coden::Run(
      source, stages, [](const BatchPtr&) { return arrow::Status::OK(); }, {&progress});
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(progress.calls, (std::vector<std::int64_t>{2, 3}));
  ASSERT_EQ(times->stages.size(), 1u);
  EXPECT_GE(times->source, 0.0);
  EXPECT_GE(times->stages[0], 0.0);
}

TEST(Runner, AStopEndsTheRunBetweenTwoBatches) {
  Trace trace;
  TracedSource source(&trace);
  TracedStage a("a", &trace);
  Operator* stages[] = {&a};
  arrow::StopSource stop;
  const Emit sink = [&](const BatchPtr&) {
    stop.RequestStop();
    return arrow::Status::OK();
  };
  SilentProgress progress;
  const auto times = coden::Run(source, stages, sink, {&progress, stop.token()});
  EXPECT_TRUE(times.status().IsCancelled());
  EXPECT_EQ(trace, (Trace{"a bind", "read", "a push 1,2"}));
}

// A log of `rows` random edges among 40 nodes, about four to a time.
BatchPtr RandomLog(int rows) {
  std::mt19937 random(11);
  arrow::Int64Builder src, dst, time;
  std::int64_t now = 0;
  for (int row = 0; row < rows; ++row) {
    EXPECT_TRUE(src.Append(1000 + random() % 40).ok());
    EXPECT_TRUE(dst.Append(1000 + random() % 40).ok());
    now += random() % 4 == 0;
    EXPECT_TRUE(time.Append(now).ok());
  }
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("src", arrow::int64()),
                     arrow::field("dst", arrow::int64()),
                     arrow::field("time", arrow::int64())}),
      rows,
      {src.Finish().ValueOrDie(), dst.Finish().ValueOrDie(), time.Finish().ValueOrDie()});
}

// read -> partition -> sample as the schedule pass has them; with a seed, every joint is
// cut anew.
arrow::Result<Schedule> ScheduleOf(const BatchPtr& log, ShiftBound bound,
                                   std::uint32_t seed) {
  ARROW_ASSIGN_OR_RAISE(const auto nodes, NodeIdMap::Make(arrow::int64()));
  InputOptions input;
  input.random_features = 4;
  input.random_seed = 3;
  ARROW_ASSIGN_OR_RAISE(const auto features, NodeFeatures::Open(input, *nodes));
  PartitionOptions partition;
  partition.initial = InitialFraction{0.2};
  partition.predictions = 6;
  ARROW_ASSIGN_OR_RAISE(auto clock, PredictionClock::Make(partition, log->num_rows()));
  EventReader reader("log", EventMode::kToggle, *nodes);
  Partitioner partitioner(std::move(clock));
  SampleOptions sample;
  sample.bound = bound;
  ARROW_ASSIGN_OR_RAISE(
      const auto sampler,
      ScheduleSampler::Make(sample, EmbedOptions{}, GraphOptions{}, features, *nodes));
  Recut cuts[] = {Recut(seed), Recut(seed + 1), Recut(seed + 2), Recut(seed + 3)};
  std::vector<Operator*> stages = {&reader, &partitioner, sampler.get()};
  if (seed > 0) {
    stages = {&cuts[0], &reader,       &cuts[1], &partitioner,
              &cuts[2], sampler.get(), &cuts[3]};
  }
  arrow::RecordBatchVector rows;
  const Emit collect = [&](BatchPtr batch) {
    rows.push_back(std::move(batch));
    return arrow::Status::OK();
  };
  ARROW_ASSIGN_OR_RAISE(const auto source, arrow::RecordBatchReader::Make({log}));
  SilentProgress progress;
  ARROW_RETURN_NOT_OK(Run(*source, stages, collect, {&progress}).status());
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        arrow::Table::FromRecordBatches(ScheduleSchema(), rows));
  return ScheduleFromTable(*table);
}

TEST(Runner, TheScheduleDoesNotDependOnWhereBatchesAreCut) {
  const BatchPtr log = RandomLog(2000);
  for (const ShiftBound bound :
       {ShiftBound::kRelative, ShiftBound::kPaper, ShiftBound::kStrict}) {
    SCOPED_TRACE(static_cast<int>(bound));
    const auto whole = ScheduleOf(log, bound, /*seed=*/0);
    ASSERT_TRUE(whole.ok()) << whole.status().ToString();
    EXPECT_GT(whole->size(), 20u);
    EXPECT_EQ(std::count_if(whole->begin(), whole->end(),
                            [](const SchedulePoint& p) { return p.at_prediction; }),
              6);
    for (std::uint32_t seed = 1; seed < 60; seed += 10) {
      SCOPED_TRACE(seed);
      const auto cut = ScheduleOf(log, bound, seed);
      ASSERT_TRUE(cut.ok()) << cut.status().ToString();
      EXPECT_TRUE(*cut == *whole);
    }
  }
}

}  // namespace
}  // namespace coden
