// Passes whose stages work at the same time. A race shows in some of many short rounds
// rather than in one long one, so everything is repeated.

#include <chrono>
#include <future>
#include <new>
#include <thread>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/type.h>

#include "coden/base/runner.h"
#include "support/status.h"

namespace coden {
namespace {

constexpr int kRounds = 100;
constexpr int kEndless = 1 << 30;

constexpr PassThreads kLayouts[] = {
    {},
    {.read_ahead_of = 0},
    {.read_ahead_of = 1},
    {.write_behind_from = 2},
    {.write_behind_from = 3},
    {.read_ahead_of = 1, .write_behind_from = 2},
    {.read_ahead_of = 2, .write_behind_from = 2},
    {.read_ahead_of = 3, .write_behind_from = 3},
};

// Check one behaviour in every layout, many times.
template <typename Check>
void InEveryLayout(const Check& check) {
  for (const PassThreads& layout : kLayouts) {
    SCOPED_TRACE("ahead of " + std::to_string(layout.read_ahead_of.value_or(99)) +
                 ", behind from " +
                 std::to_string(layout.write_behind_from.value_or(99)));
    for (int round = 0; round < kRounds; ++round) check(layout);
  }
}

BatchPtr Numbers(std::int64_t first, std::int64_t rows) {
  arrow::Int64Builder builder;
  for (std::int64_t row = 0; row < rows; ++row) {
    EXPECT_TRUE(builder.Append(first + row).ok());
  }
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("n", arrow::int64())}),
                                  rows, {builder.Finish().ValueOrDie()});
}

// What a stage or the source does besides passing batches on, with the number of the
// call.
using Act = std::function<arrow::Status(int)>;

arrow::Status Nothing(int) { return arrow::Status::OK(); }

Act FailAt(int number, const std::string& message) {
  return [=](int call) {
    return call == number ? arrow::Status::IOError(message) : arrow::Status::OK();
  };
}

// `batches` batches of 4 rising numbers.
class Source : public arrow::RecordBatchReader {
 public:
  explicit Source(int batches, Act act = Nothing)
      : batches_(batches), act_(std::move(act)) {}
  std::shared_ptr<arrow::Schema> schema() const override {
    return Numbers(0, 0)->schema();
  }
  arrow::Status ReadNext(BatchPtr* batch) override {
    ARROW_RETURN_NOT_OK(act_(next_));
    *batch = next_ == batches_ ? nullptr : Numbers(4 * next_, 4);
    ++next_;
    return arrow::Status::OK();
  }

 private:
  int batches_;
  Act act_;
  int next_ = 0;
};

class Stage : public Operator {
 public:
  explicit Stage(Act act = Nothing) : act_(std::move(act)) {}
  std::string_view name() const override { return "stage"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override { return input; }
  arrow::Status Push(BatchPtr batch, const Emit& emit) override {
    ARROW_RETURN_NOT_OK(act_(calls_++));
    return emit(std::move(batch));
  }
  arrow::Status Finish(const Emit& emit) override {
    finished = true;
    return emit(Numbers(-1, 1));
  }

  bool finished = false;

 private:
  Act act_;
  int calls_ = 0;
};

// A pass of three stages and what comes out of it.
struct ThreeStages {
  Stage a, b, c;
  std::vector<std::int64_t> out = {};

  arrow::Result<PassTimes> Run(Source& source, const PassThreads& layout,
                               const Act& sink = Nothing,
                               RunContext context = SilentContext()) {
    Operator* stages[] = {&a, &b, &c};
    int calls = 0;
    const Emit collect = [&](const BatchPtr& batch) -> arrow::Status {
      const auto& numbers = static_cast<const arrow::Int64Array&>(*batch->column(0));
      for (std::int64_t row = 0; row < numbers.length(); ++row) {
        out.push_back(numbers.Value(row));
      }
      return sink(calls++);
    };
    return coden::Run(source, stages, collect, context, layout);
  }

  static RunContext SilentContext() {
    static SilentProgress progress;
    return {&progress};
  }
};

TEST(RunnerThreads, WhatComesOutDoesNotDependOnThem) {
  std::vector<std::int64_t> expected(4 * 50);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = static_cast<std::int64_t>(i);
  }
  expected.insert(expected.end(), {-1, -1, -1});
  InEveryLayout([&](const PassThreads& layout) {
    Source source(50);
    ThreeStages pass;
    ASSERT_TRUE(pass.Run(source, layout).ok());
    ASSERT_EQ(pass.out, expected);
  });
}

// The source never ends, so a side that does not learn of the error hangs the test.
TEST(RunnerThreads, AnErrorDownstreamEndsWhoeverIsBlocked) {
  InEveryLayout([](const PassThreads& layout) {
    Source source(kEndless);
    ThreeStages pass;
    const auto times = pass.Run(source, layout, FailAt(3, "the disk is full"));
    ASSERT_EQ(times.status().message(), "the disk is full");
    ASSERT_FALSE(pass.c.finished);
  });
  InEveryLayout([](const PassThreads& layout) {
    Source source(kEndless);
    ThreeStages pass{.a = Stage(), .b = Stage(FailAt(5, "b broke")), .c = Stage()};
    ASSERT_EQ(pass.Run(source, layout).status().message(), "b broke");
    ASSERT_FALSE(pass.a.finished || pass.b.finished || pass.c.finished);
  });
}

TEST(RunnerThreads, AnErrorUpstreamEndsTheStagesWithoutFinishingThem) {
  for (const int at : {0, 1, 30}) {
    InEveryLayout([&](const PassThreads& layout) {
      Source source(kEndless, FailAt(at, "cannot read"));
      ThreeStages pass;
      ASSERT_EQ(pass.Run(source, layout).status().message(), "cannot read");
      ASSERT_FALSE(pass.a.finished || pass.b.finished || pass.c.finished);
      ASSERT_LE(pass.out.size(), 4u * static_cast<std::size_t>(at));
    });
  }
}

TEST(RunnerThreads, AStopEndsAllOfThem) {
  InEveryLayout([](const PassThreads& layout) {
    arrow::StopSource stop;
    Source source(kEndless);
    ThreeStages pass;
    const auto request = [&](int call) {
      if (call == 4) stop.RequestStop();
      return arrow::Status::OK();
    };
    RunContext context = ThreeStages::SilentContext();
    context.stop = stop.token();
    ASSERT_TRUE(pass.Run(source, layout, request, context).status().IsCancelled());
    ASSERT_FALSE(pass.a.finished || pass.b.finished || pass.c.finished);
  });
}

TEST(RunnerThreads, AnExceptionIsAnErrorOnWhateverThread) {
  const Act exhaust = [](int) -> arrow::Status { throw std::bad_alloc(); };
  InEveryLayout([&](const PassThreads& layout) {
    Source source(kEndless);
    ThreeStages pass;
    ASSERT_TRUE(pass.Run(source, layout, exhaust).status().IsOutOfMemory());
  });
}

// Come to call `number` of one part before another part goes on.
class Meeting {
 public:
  Act Arrive(int number) {
    return [this, number](int call) {
      if (call == number) arrived_.set_value();
      return arrow::Status::OK();
    };
  }
  Act Await() {
    return [arrived = arrived_.get_future().share()](int call) {
      if (call > 0) return arrow::Status::OK();
      return arrived.wait_for(std::chrono::seconds(20)) == std::future_status::ready
                 ? arrow::Status::OK()
                 : arrow::Status::IOError("the others stood still meanwhile");
    };
  }

 private:
  std::promise<void> arrived_;
};

TEST(RunnerThreads, TheThreePartsWorkAtTheSameTime) {
  constexpr PassThreads kLayout{.read_ahead_of = 1, .write_behind_from = 2};
  for (int round = 0; round < kRounds; ++round) {
    // The source reads its third batch while the middle holds its first.
    Meeting ahead;
    Source early(10, ahead.Arrive(2));
    ThreeStages reads{.a = Stage(), .b = Stage(ahead.Await()), .c = Stage()};
    CODEN_EXPECT_OK(reads.Run(early, kLayout).status());
    // The middle works at its third batch while the end holds its first.
    Meeting behind;
    Source source(10);
    ThreeStages writes{.a = Stage(), .b = Stage(behind.Arrive(2)), .c = Stage()};
    CODEN_EXPECT_OK(writes.Run(source, kLayout, behind.Await()).status());
  }
}

TEST(RunnerThreads, WaitingIsNotWork) {
  constexpr int kBatches = 40;
  Source source(kBatches);
  const Act nap = [](int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return arrow::Status::OK();
  };
  ThreeStages pass{.a = Stage(), .b = Stage(), .c = Stage(nap)};
  const auto times = pass.Run(source, {.read_ahead_of = 1, .write_behind_from = 2});
  ASSERT_TRUE(times.ok());
  EXPECT_GE(times->stages[2], kBatches * 0.005);
  EXPECT_LT(times->source, kBatches * 0.001);
  EXPECT_LT(times->stages[0], kBatches * 0.001);
  EXPECT_LT(times->stages[1], kBatches * 0.001);
}

class LastAdvance : public SilentProgress {
 public:
  void Advance(std::int64_t done) override {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_GE(done, last);
    last = done;
  }
  std::thread::id caller = std::this_thread::get_id();
  std::int64_t last = 0;
};

TEST(RunnerThreads, ProgressCountsRowsOfTheSourceOnTheCallersThread) {
  InEveryLayout([](const PassThreads& layout) {
    Source source(20);
    ThreeStages pass;
    LastAdvance progress;
    ASSERT_TRUE(pass.Run(source, layout, Nothing, {&progress}).ok());
    ASSERT_EQ(progress.last, 80);
  });
}

}  // namespace
}  // namespace coden
