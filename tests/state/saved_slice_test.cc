#include "coden/state/saved_slice.h"

#include <filesystem>
#include <fstream>

#include "coden/base/error.h"
#include "coden/store/run_layout.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

constexpr char kSchedule[] = "0123456789abcdef";

class SavedSliceTest : public ::testing::Test {
 protected:
  // One attempt at a slice, with its files.
  SavedSlice Make(int begin, int end) {
    SavedSlice slice;
    slice.columns = {begin, end};
    slice.error_bounds = {1e-7, 2.5e-8};
    slice.work.resize(2);
    slice.work[1].sweeps = 13;
    slice.engine.pushed = 0.25;
    slice.engine.bounds.assign(end - begin, 1.0 / 3.0);
    slice.engine.in_double.assign(end - begin, begin == 0);
    slice.seconds = 1.5;
    slice.peak_bytes = 1 << 20;
    store_->StageInto(NewSliceFolder(kSchedule, slice.columns));
    slice.rows = store_->StageText("rows.arrows", "rows").ValueOrDie();
    slice.state = {store_->StageText(RunLayout::Columns(begin), "numbers").ValueOrDie()};
    return slice;
  }
  SavedSlice Publish(SavedSlice slice) {
    auto published = PublishSlice(*store_, kSchedule, std::move(slice));
    store_->StageInto({});
    EXPECT_TRUE(published.ok()) << published.status().ToString();
    return *published;
  }
  arrow::Result<std::vector<SavedSlice>> Load() const {
    return LoadSlices(*store_, kSchedule);
  }
  std::string RecordOf(const std::string& columns) const {
    return store_->LocalPath("_coden/slices/" + std::string(kSchedule) + "/columns-" +
                             columns + ".json");
  }

  TempDir folder_;
  std::shared_ptr<RunStore> store_ = StoreAt(folder_ / "run");
};

TEST_F(SavedSliceTest, ComesBackAsItWas) {
  const SavedSlice slice = Publish(Make(0, 4));
  const auto loaded = Load().ValueOrDie();
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_EQ(loaded[0].columns.end, 4);
  EXPECT_EQ(loaded[0].error_bounds, slice.error_bounds);
  EXPECT_EQ(loaded[0].work[1].sweeps, 13);
  EXPECT_EQ(loaded[0].engine.bounds, slice.engine.bounds);
  EXPECT_EQ(loaded[0].engine.in_double, slice.engine.in_double);
  EXPECT_EQ(loaded[0].engine.pushed, 0.25);
  EXPECT_EQ(loaded[0].rows.staged, slice.rows.staged);
  EXPECT_EQ(loaded[0].state[0].path, RunLayout::Columns(0));
  EXPECT_TRUE(LoadSlices(*store_, "another").ValueOrDie().empty());
}

TEST_F(SavedSliceTest, IsNotThereBeforeItsRecord) {
  std::ignore = Make(0, 4);
  EXPECT_TRUE(Load().ValueOrDie().empty());
}

TEST_F(SavedSliceTest, OfTwoAttemptsTheFirstCounts) {
  const SavedSlice first = Make(0, 4);
  SavedSlice second = Make(0, 4);
  EXPECT_NE(first.rows.staged, second.rows.staged);
  const std::string lost = store_->LocalPath(second.rows.staged);
  Publish(first);
  EXPECT_EQ(Publish(std::move(second)).rows.staged, first.rows.staged);
  EXPECT_FALSE(std::filesystem::exists(lost));
  EXPECT_EQ(Load().ValueOrDie().size(), 1u);
}

TEST_F(SavedSliceTest, ADamagedRecordIsRefused) {
  Publish(Make(0, 4));
  const std::string path = RecordOf("0-4");
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  for (std::size_t at = 0; at < text.size(); at += 7) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    std::ofstream(path, std::ios::binary) << changed;
    const auto loaded = Load();
    EXPECT_EQ(FaultOf(loaded.status()), Fault::kCorruption) << at;
  }
}

TEST_F(SavedSliceTest, FilesThatAreGoneAreNoticed) {
  const SavedSlice slice = Publish(Make(0, 4));
  std::filesystem::remove(store_->LocalPath(slice.state[0].staged));
  const auto status = Load().status();
  EXPECT_EQ(FaultOf(status), Fault::kCorruption);
  EXPECT_NE(status.message().find("embed these columns again"), std::string::npos);
}

TEST_F(SavedSliceTest, WhatNobodyNamesIsRemoved) {
  std::ignore = Make(4, 8);
  const SavedSlice kept = Publish(Make(0, 4));
  Publish(Make(0, 2));
  CODEN_EXPECT_OK(RemoveSlicesBut(*store_, kSchedule, {kept}));
  EXPECT_EQ(store_->List(RunLayout::kSlices).ValueOrDie().size(), 3u);
  EXPECT_EQ(Load().ValueOrDie().size(), 1u);
  CODEN_EXPECT_OK(RemoveSlicesBut(*store_, {}, {}));
  EXPECT_FALSE(std::filesystem::exists(store_->LocalPath(RunLayout::kSlices)));
}

TEST(MissingColumns, AreWhatSlicesSideBySideLeaveOpen) {
  const auto missing = [](const ColumnRange& all, std::vector<ColumnRange> ranges,
                          std::size_t left) {
    std::vector<SavedSlice> slices;
    for (const ColumnRange& range : ranges) slices.emplace_back().columns = range;
    std::string text;
    for (const ColumnRange& range : MissingColumns(all, &slices))
      text += std::to_string(range.begin) + ":" + std::to_string(range.end) + " ";
    EXPECT_EQ(slices.size(), left);
    return text;
  };
  EXPECT_EQ(missing({0, 8}, {}, 0), "0:8 ");
  EXPECT_EQ(missing({0, 8}, {{0, 8}}, 1), "");
  EXPECT_EQ(missing({0, 8}, {{0, 4}, {4, 8}}, 2), "");
  EXPECT_EQ(missing({0, 8}, {{2, 4}, {5, 6}}, 2), "0:2 4:5 6:8 ");
  EXPECT_EQ(missing({0, 8}, {{0, 4}, {2, 8}, {4, 6}}, 2), "6:8 ");
  EXPECT_EQ(missing({3, 8}, {{0, 4}, {4, 9}}, 0), "3:8 ");
}

TEST(ScheduleId, ChangesWithEveryCommitOfThePart) {
  PartRecord part;
  part.fingerprint = "f";
  const std::string id = ScheduleId(part);
  EXPECT_EQ(id.size(), 16u);
  part.files.push_back({std::string(RunLayout::kProgress), 1, 0, "a"});
  const std::string other = ScheduleId(part);
  EXPECT_NE(other, id);
  part.files.push_back({"snapshots/x", 1, 0, "b"});
  EXPECT_EQ(ScheduleId(part), other);
}

}  // namespace
}  // namespace coden
