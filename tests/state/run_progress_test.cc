#include "coden/state/run_progress.h"

#include <bit>
#include <cmath>
#include <random>

#include <nlohmann/json.hpp>

#include "support/status.h"

namespace coden {
namespace {

using nlohmann::json;

// A double of random bits: any scale, every digit.
double AnyDouble(std::mt19937_64& random) {
  while (true) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) return value;
  }
}

RunProgress RandomProgress(unsigned seed) {
  std::mt19937_64 random(seed);
  const auto integer = [&] { return static_cast<std::int64_t>(random() >> 1); };
  const auto small = [&] { return static_cast<int>(random() >> 33); };
  RunProgress progress;
  progress.clock = {-integer(), integer(), integer(), small(), AnyDouble(random)};
  progress.sampler = {small(),
                      small(),
                      integer(),
                      AnyDouble(random),
                      {integer(), integer(), integer(), integer()}};
  const std::int64_t rows = integer() >> 2;
  progress.log = {{"a.parquet", 0, 40, 0, 40, "0123456789abcdef"},
                  {"b.parquet", 45, rows, 40, rows / 2 + 1, "ff"}};
  progress.feature_rows = integer();
  progress.feature_hash = "aa";
  progress.update_hash = "bb";
  progress.num_snapshots = small();
  progress.engine.pushed = AnyDouble(random);
  for (int column = 0; column < 40; ++column) {
    progress.engine.bounds.push_back(AnyDouble(random));
    progress.engine.in_double.push_back(random() % 2 == 0);
  }
  progress.column_files = {{0, 16}, {16, 40}};
  return progress;
}

void ExpectEqual(const RunProgress& a, const RunProgress& b) {
  EXPECT_EQ(a.clock.start_time, b.clock.start_time);
  EXPECT_EQ(a.clock.rows, b.clock.rows);
  EXPECT_EQ(a.clock.last_time, b.clock.last_time);
  EXPECT_EQ(a.clock.num_predictions, b.clock.num_predictions);
  EXPECT_EQ(a.clock.rows_per_batch, b.clock.rows_per_batch);
  EXPECT_EQ(a.sampler.num_snapshots, b.sampler.num_snapshots);
  EXPECT_EQ(a.sampler.prediction, b.sampler.prediction);
  EXPECT_EQ(a.sampler.num_events, b.sampler.num_events);
  EXPECT_EQ(a.sampler.mass, b.sampler.mass);
  EXPECT_EQ(a.sampler.counts.repeated, b.sampler.counts.repeated);
  EXPECT_EQ(a.sampler.counts.self_loops, b.sampler.counts.self_loops);
  EXPECT_EQ(a.sampler.counts.missing_deletions, b.sampler.counts.missing_deletions);
  EXPECT_EQ(a.sampler.counts.expired, b.sampler.counts.expired);
  ASSERT_EQ(a.log.size(), b.log.size());
  for (std::size_t i = 0; i < a.log.size(); ++i) {
    EXPECT_EQ(a.log[i].file, b.log[i].file);
    EXPECT_EQ(a.log[i].first_row, b.log[i].first_row);
    EXPECT_EQ(a.log[i].num_rows, b.log[i].num_rows);
    EXPECT_EQ(a.log[i].first_event, b.log[i].first_event);
    EXPECT_EQ(a.log[i].num_events, b.log[i].num_events);
    EXPECT_EQ(a.log[i].hash, b.log[i].hash);
  }
  EXPECT_EQ(a.feature_rows, b.feature_rows);
  EXPECT_EQ(a.feature_hash, b.feature_hash);
  EXPECT_EQ(a.update_hash, b.update_hash);
  EXPECT_EQ(a.num_snapshots, b.num_snapshots);
  EXPECT_EQ(a.engine.pushed, b.engine.pushed);
  EXPECT_EQ(a.engine.bounds, b.engine.bounds);
  EXPECT_EQ(a.engine.in_double, b.engine.in_double);
  ASSERT_EQ(a.column_files.size(), b.column_files.size());
  for (std::size_t i = 0; i < a.column_files.size(); ++i) {
    EXPECT_EQ(a.column_files[i].begin, b.column_files[i].begin);
    EXPECT_EQ(a.column_files[i].end, b.column_files[i].end);
  }
}

void ExpectDamaged(const std::string& text) {
  SCOPED_TRACE(text.substr(0, 100));
  const auto progress = ProgressFromJson(text, "run/state/progress.json");
  ASSERT_FALSE(progress.ok());
  EXPECT_EQ(FaultOf(progress.status()), Fault::kCorruption);
  EXPECT_NE(progress.status().message().find("'run/state/progress.json'"),
            std::string::npos)
      << progress.status().message();
  EXPECT_EQ(progress.status().message().find('\n'), std::string::npos);
}

TEST(RunProgress, IsReadBackToTheLastBit) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const RunProgress progress = RandomProgress(seed);
    const std::string text = ToJson(progress);
    const auto back = ProgressFromJson(text, "file");
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    ExpectEqual(*back, progress);
    EXPECT_EQ(ToJson(*back), text);
  }
  const RunProgress empty;
  ExpectEqual(ProgressFromJson(ToJson(empty), "file").ValueOrDie(), empty);
}

TEST(RunProgress, TextThatIsNoProgressIsCorruption) {
  for (const std::string text : {"", "{", "[]", "null", "3", "{}", "\xff\xfe"})
    ExpectDamaged(text);
  const std::string text = ToJson(RandomProgress(1));
  for (std::size_t size = 0; size + 2 < text.size(); size += text.size() / 30)
    ExpectDamaged(text.substr(0, size));
  json newer = json::parse(text);
  newer["format_version"] = 99;
  ExpectDamaged(newer.dump());
}

TEST(RunProgress, AMissingKeyOrAWrongTypeIsCorruption) {
  const json whole = json::parse(ToJson(RandomProgress(2)));
  int keys = 0;
  for (const char* path : {"", "/clock", "/sampler", "/log/0"}) {
    const json::json_pointer object(path);
    for (const auto& entry : whole[object].items()) {
      ++keys;
      json changed = whole;
      changed[object].erase(entry.key());
      ExpectDamaged(changed.dump());
      changed = whole;
      changed[object][entry.key()] = json::array({json::array({json::array()})});
      ExpectDamaged(changed.dump());
    }
  }
  EXPECT_EQ(keys, 12 + 5 + 8 + 6);
}

TEST(RunProgress, FilesThatDoNotHoldAllColumnsAreCorruption) {
  const RunProgress whole = RandomProgress(3);
  for (const std::vector<ColumnRange>& files : {std::vector<ColumnRange>{},
                                                {{0, 16}},
                                                {{16, 40}},
                                                {{0, 16}, {17, 40}},
                                                {{0, 16}, {15, 40}},
                                                {{0, 41}},
                                                {{-1, 40}},
                                                {{0, 50}, {50, 40}}}) {
    RunProgress progress = whole;
    progress.column_files = files;
    ExpectDamaged(ToJson(progress));
  }
  RunProgress progress = whole;
  progress.num_snapshots = -1;
  ExpectDamaged(ToJson(progress));
  progress = whole;
  progress.engine.in_double.pop_back();
  ExpectDamaged(ToJson(progress));
}

TEST(RunProgress, SegmentsThatDoNotFollowEachOtherAreCorruption) {
  const RunProgress whole = RandomProgress(4);
  for (const auto spoil : {+[](LogSegment& segment) { segment.first_event += 1; },
                           +[](LogSegment& segment) { segment.num_events = 0; },
                           +[](LogSegment& segment) { segment.num_rows = 1; },
                           +[](LogSegment& segment) { segment.first_row = -1; }}) {
    RunProgress progress = whole;
    spoil(progress.log[1]);
    ExpectDamaged(ToJson(progress));
  }
}

}  // namespace
}  // namespace coden
