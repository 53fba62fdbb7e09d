#include "train/rank_sum_internal.h"

#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "base/random_internal.h"

namespace coden {
namespace {

// Ranks that are threads: a queue for every direction between two of them.
struct Wires {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages;
};

class ThreadRanks : public RankGroup {
 public:
  ThreadRanks(Wires& wires, int rank, int size) : RankGroup(rank, size), wires_(wires) {}

  arrow::Status Send(std::span<const std::byte> bytes, int to) override {
    const std::lock_guard lock(wires_.mutex);
    wires_.messages[{rank(), to}].emplace_back(bytes.begin(), bytes.end());
    wires_.changed.notify_all();
    return arrow::Status::OK();
  }
  arrow::Status Receive(std::span<std::byte> bytes, int from) override {
    std::unique_lock lock(wires_.mutex);
    auto& queue = wires_.messages[{from, rank()}];
    wires_.changed.wait(lock, [&] { return !queue.empty(); });
    if (queue.front().size() != bytes.size()) return arrow::Status::Invalid("other size");
    std::memcpy(bytes.data(), queue.front().data(), bytes.size());
    queue.pop_front();
    return arrow::Status::OK();
  }
  arrow::StopToken stop() const override { return arrow::StopToken::Unstoppable(); }
  arrow::Status Leave() override { return arrow::Status::OK(); }

 private:
  Wires& wires_;
};

// Chunk by chunk into a plain sum, as the reference.
StepSum InOrder(std::span<const ChunkSum> chunks, std::size_t length) {
  StepSum sum;
  bool first = true;
  for (const ChunkSum& chunk : chunks) {
    if (chunk.gradient.empty()) continue;
    sum.loss += chunk.loss;
    sum.weight += chunk.weight;
    if (first) sum.gradient.assign(chunk.gradient.begin(), chunk.gradient.end());
    for (std::size_t i = 0; i < length && !first; ++i)
      sum.gradient[i] += chunk.gradient[i];
    first = false;
  }
  sum.gradient.resize(length);
  return sum;
}

TEST(SumChunks, HasTheBitsOfOneProcess) {
  constexpr std::size_t kLength = 300'000;  // more than one piece
  constexpr std::size_t kChunks = 7;
  SplitMix64 random(3);
  std::vector<std::vector<float>> gradients(kChunks, std::vector<float>(kLength));
  std::vector<ChunkSum> chunks(kChunks);
  for (std::size_t c = 0; c < kChunks; ++c) {
    // Of very different size, so that another order gives other bits.
    for (float& value : gradients[c])
      value = static_cast<float>(
          std::ldexp(1.0 + random.Below(1000), static_cast<int>(random.Below(20))));
    gradients[c][0] = -0.0f;
    if (c == 0 || c == 3) continue;  // no pair of it counts
    chunks[c] = {0.1 * static_cast<double>(c), static_cast<double>(c), gradients[c]};
  }
  const StepSum expected = InOrder(chunks, kLength);
  for (const int size : {1, 2, 3, 9}) {
    SCOPED_TRACE(size);
    Wires wires;
    std::vector<StepSum> sums(static_cast<std::size_t>(size));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        ThreadRanks ranks(wires, rank, size);
        const std::size_t begin = kChunks * rank / size;
        const std::size_t end = kChunks * (rank + 1) / size;
        sums[rank] =
            SumChunks(&ranks, std::span(chunks).subspan(begin, end - begin), kLength)
                .ValueOrDie();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const StepSum& sum : sums) {
      EXPECT_EQ(sum.loss, expected.loss);
      EXPECT_EQ(sum.weight, expected.weight);
      EXPECT_EQ(std::memcmp(sum.gradient.data(), expected.gradient.data(),
                            kLength * sizeof(float)),
                0);
    }
  }
  const StepSum alone = SumChunks(nullptr, chunks, kLength).ValueOrDie();
  EXPECT_EQ(alone.gradient, expected.gradient);
  EXPECT_TRUE(std::signbit(alone.gradient[0]));
}

TEST(SumCounts, AddsOverRanks) {
  Wires wires;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRanks ranks(wires, rank, 3);
      std::int64_t counts[] = {rank + 1, 10};
      EXPECT_TRUE(SumCounts(&ranks, counts).ok());
      EXPECT_EQ(counts[0], 6);
      EXPECT_EQ(counts[1], 30);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace coden
