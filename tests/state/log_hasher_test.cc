#include "coden/state/log_hasher.h"

#include <random>

#include "coden/read/event_batch.h"
#include "support/recut.h"
#include "support/status.h"

namespace coden {
namespace {

std::vector<EdgeEvent> RandomEvents(int count) {
  std::mt19937 random(3);
  std::vector<EdgeEvent> events;
  for (int i = 0; i < count; ++i) {
    events.push_back({static_cast<NodeId>(random() % 50),
                      static_cast<NodeId>(random() % 50), i / 3,
                      random() % 2 == 0 ? EventKind::kInsert : EventKind::kDelete});
  }
  return events;
}

BatchPtr BatchOf(const std::vector<EdgeEvent>& events) {
  EventBatchBuilder builder;
  std::int64_t row = 0;
  for (const EdgeEvent& event : events) builder.Append(event, row++);
  return builder.Finish();
}

// Put batches through and expect that they come out as they were.
void Feed(LogHasher& hasher, const std::vector<BatchPtr>& batches) {
  for (const BatchPtr& batch : batches) {
    int emitted = 0;
    CODEN_EXPECT_OK(hasher.Push(batch, [&](const BatchPtr& passed) {
      EXPECT_EQ(passed, batch);
      ++emitted;
      return arrow::Status::OK();
    }));
    EXPECT_EQ(emitted, 1);
  }
}

std::string DigestOf(const std::vector<EdgeEvent>& events) {
  LogHasher hasher;
  Feed(hasher, {BatchOf(events)});
  const auto pieces = hasher.TakePieces();
  if (pieces.empty()) return {};
  EXPECT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].num_events, static_cast<std::int64_t>(events.size()));
  return pieces[0].digest;
}

TEST(LogHasher, DoesNotDependOnTheCuts) {
  const auto events = RandomEvents(1000);
  const std::string whole = DigestOf(events);
  EXPECT_EQ(whole.size(), 16u);
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    std::vector<BatchPtr> cut;
    Recut recut(seed);
    CODEN_EXPECT_OK(recut.Push(BatchOf(events), [&](BatchPtr part) {
      cut.push_back(std::move(part));
      return arrow::Status::OK();
    }));
    LogHasher hasher;
    Feed(hasher, cut);
    const auto pieces = hasher.TakePieces();
    ASSERT_EQ(pieces.size(), 1u);
    EXPECT_EQ(pieces[0].digest, whole);
    EXPECT_EQ(pieces[0].num_events, 1000);
  }
}

TEST(LogHasher, PunctuationDoesNotCount) {
  const auto events = RandomEvents(20);
  LogHasher hasher;
  const std::vector<EdgeEvent> first(events.begin(), events.begin() + 9);
  const std::vector<EdgeEvent> rest(events.begin() + 9, events.end());
  Feed(hasher, {BatchOf(first),
                BatchOf({{kNoNode, kNoNode, 3, EventKind::kStart},
                         {kNoNode, kNoNode, 4, EventKind::kPredict}}),
                BatchOf(rest)});
  const auto pieces = hasher.TakePieces();
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].num_events, 20);
  EXPECT_EQ(pieces[0].digest, DigestOf(events));
}

TEST(LogHasher, SeesEveryColumnOfEveryRow) {
  auto events = RandomEvents(30);
  const std::string before = DigestOf(events);
  for (EdgeEvent& event : events) {
    const EdgeEvent kept = event;
    const auto check = [&](const char* what) {
      EXPECT_NE(DigestOf(events), before) << what;
      event = kept;
    };
    event.src += 1;
    check("src");
    event.dst += 1;
    check("dst");
    event.time += 1;
    check("time");
    event.kind = EventKind::kToggle;
    check("kind");
    std::swap(event.src, event.dst);
    if (kept.src != kept.dst) check("ends swapped");
    event = kept;
  }
  EXPECT_EQ(DigestOf(events), before);
}

TEST(LogHasher, SeesOrderAndNumber) {
  auto events = RandomEvents(30);
  const std::string before = DigestOf(events);
  std::swap(events[3], events[20]);
  EXPECT_NE(DigestOf(events), before);
  std::swap(events[3], events[20]);
  events.pop_back();
  EXPECT_NE(DigestOf(events), before);
  EXPECT_NE(DigestOf({}), before);
}

// Rows 3 to 5 and 8 are not there, and the file that begins with row 4 has none.
TEST(LogHasher, CutsWhereFilesBegin) {
  const auto events = RandomEvents(7);
  const std::vector<std::int64_t> rows = {0, 1, 2, 6, 7, 9, 10};
  for (const std::size_t batch : {1, 2, 7}) {
    LogHasher hasher({0, 2, 4, 5, 10});
    for (std::size_t begin = 0; begin < events.size(); begin += batch) {
      EventBatchBuilder builder;
      for (std::size_t i = begin; i < std::min(begin + batch, events.size()); ++i)
        builder.Append(events[i], rows[i]);
      Feed(hasher, {builder.Finish()});
    }
    const auto pieces = hasher.TakePieces();
    ASSERT_EQ(pieces.size(), 4u);
    const auto expect = [&](std::size_t i, std::int64_t first, std::int64_t end,
                            std::size_t from, std::size_t to) {
      EXPECT_EQ(pieces[i].first_row, first);
      EXPECT_EQ(pieces[i].end_row, end);
      EXPECT_EQ(pieces[i].digest,
                DigestOf({events.begin() + static_cast<std::ptrdiff_t>(from),
                          events.begin() + static_cast<std::ptrdiff_t>(to)}));
    };
    expect(0, 0, 2, 0, 2);
    expect(1, 2, 3, 2, 3);
    expect(2, 6, 10, 3, 6);
    expect(3, 10, 11, 6, 7);
  }
}

}  // namespace
}  // namespace coden
