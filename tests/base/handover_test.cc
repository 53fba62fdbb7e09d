// Two threads on one hand-over. A race shows in some of many short rounds rather than in
// one long one, so everything is repeated.

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

#include "base/handover_internal.h"
#include "support/status.h"

namespace coden {
namespace {

constexpr int kRounds = 200;
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

// A batch of `rows` numbers, 8 bytes each, the first of which is `first`.
BatchPtr Batch(std::int64_t first, std::int64_t rows = 1) {
  std::vector<std::int64_t> numbers(rows, first);
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("n", arrow::int64())}), rows,
      {std::make_shared<arrow::Int64Array>(rows, arrow::Buffer::FromVector(numbers))});
}

std::int64_t First(const arrow::RecordBatch& batch) {
  return static_cast<const arrow::Int64Array&>(*batch.column(0)).Value(0);
}

void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

TEST(Handover, KeepsTheOrderAndTheEnd) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    Handover handover(/*max_bytes=*/100, /*max_batches=*/3);
    constexpr int kBatches = 100;
    std::jthread producer([&] {
      std::mt19937 random(static_cast<std::uint32_t>(round));
      for (int i = 0; i < kBatches; ++i) {
        if (random() % 8 == 0) std::this_thread::yield();
        CODEN_EXPECT_OK(
            handover.Put({Batch(i, 1 + static_cast<int>(random() % 20)), 10 * i}));
      }
      CODEN_EXPECT_OK(handover.Put({}));
    });
    std::mt19937 random(static_cast<std::uint32_t>(round + 1));
    for (int i = 0; i < kBatches; ++i) {
      if (random() % 8 == 0) std::this_thread::yield();
      const auto parcel = handover.Take();
      ASSERT_TRUE(parcel.ok());
      ASSERT_NE(parcel->batch, nullptr);
      EXPECT_EQ(First(*parcel->batch), i);
      EXPECT_EQ(parcel->source_rows, 10 * i);
    }
    const auto end = handover.Take();
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->batch, nullptr);
  }
}

// Put batches of `rows` numbers until `expected` wait and the next one is held up; every
// batch that is taken lets one more in.
void CheckBound(std::int64_t max_bytes, std::size_t max_batches, std::int64_t rows,
                int expected) {
  SCOPED_TRACE(expected);
  Handover handover(max_bytes, max_batches);
  std::atomic<int> put = 0;
  std::jthread producer([&] {
    while (handover.Put({Batch(put, rows), 0}).ok()) ++put;
  });
  for (int taken = 0; taken < 4; ++taken) {
    while (put < expected + taken) std::this_thread::yield();
    Pause();
    EXPECT_EQ(put, expected + taken);
    ASSERT_TRUE(handover.Take().ok());
  }
  handover.Abandon();
}

TEST(Handover, HoldsNoMoreThanItsBounds) {
  CheckBound(kNoLimit, /*max_batches=*/1, /*rows=*/5, /*expected=*/1);
  CheckBound(kNoLimit, /*max_batches=*/4, /*rows=*/5, /*expected=*/4);
  CheckBound(/*max_bytes=*/400, /*max_batches=*/100, /*rows=*/10, /*expected=*/5);
  CheckBound(/*max_bytes=*/399, /*max_batches=*/100, /*rows=*/10, /*expected=*/4);
  // A batch above the bound passes, alone.
  CheckBound(/*max_bytes=*/50, /*max_batches=*/100, /*rows=*/1000, /*expected=*/1);
}

TEST(Handover, AbandoningWakesWhoeverWaits) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    Handover full(kNoLimit, /*max_batches=*/1);
    Handover empty(kNoLimit, /*max_batches=*/1);
    CODEN_EXPECT_OK(full.Put({Batch(0), 0}));
    {
      std::jthread producer([&] { EXPECT_FALSE(full.Put({Batch(1), 0}).ok()); });
      std::jthread consumer([&] { EXPECT_FALSE(empty.Take().ok()); });
      if (round % 2 == 0) std::this_thread::yield();
      full.Abandon();
      empty.Abandon();
    }
    EXPECT_FALSE(full.Take().ok());
    EXPECT_FALSE(empty.Put({Batch(2), 0}).ok());
  }
}

}  // namespace
}  // namespace coden
