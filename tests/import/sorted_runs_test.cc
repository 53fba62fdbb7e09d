#include "import/sorted_runs_internal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "support/status.h"
#include "support/temp_dir.h"

namespace coden::importing {
namespace {

// A time, and the number of the row it was given with.
using Row = std::pair<std::int64_t, std::int64_t>;

BatchPtr BatchOf(const std::vector<Row>& rows) {
  std::vector<std::int64_t> times, numbers;
  for (const auto& [time, number] : rows) {
    times.push_back(time);
    numbers.push_back(number);
  }
  const auto schema = arrow::schema(
      {arrow::field("number", arrow::int64()), arrow::field("time", arrow::int64())});
  const auto array = [](std::vector<std::int64_t> values) {
    const auto length = static_cast<std::int64_t>(values.size());
    return std::make_shared<arrow::Int64Array>(
        length, arrow::Buffer::FromVector(std::move(values)));
  };
  return arrow::RecordBatch::Make(schema, static_cast<std::int64_t>(rows.size()),
                                  {array(std::move(numbers)), array(std::move(times))});
}

class SortedRunsTest : public ::testing::Test {
 protected:
  std::vector<Row> Through(const std::vector<Row>& rows, RunOrder order,
                           std::int64_t run_bytes, std::size_t most_runs) {
    SortedRunsOptions options{folder_, order, run_bytes, most_runs};
    const auto store = SortedRuns::Make(options).ValueOrDie();
    std::mt19937 random(7);
    for (std::size_t begin = 0; begin < rows.size();) {
      const std::size_t end = std::min<std::size_t>(rows.size(), begin + random() % 40);
      CODEN_EXPECT_OK(store->Append(BatchOf({rows.begin() + begin, rows.begin() + end})));
      begin = end;
    }
    std::vector<Row> out;
    CODEN_EXPECT_OK(store->Drain(
        [&](const BatchPtr& batch) {
          const auto& number = static_cast<const arrow::Int64Array&>(*batch->column(0));
          const auto& time = static_cast<const arrow::Int64Array&>(*batch->column(1));
          for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
            out.emplace_back(time.Value(row), number.Value(row));
          }
          return arrow::Status::OK();
        },
        context_));
    return out;
  }

  TempDir temp_;
  std::string folder_ = temp_.path() + "/runs";
  SilentProgress progress_;
  RunContext context_{&progress_};
};

TEST_F(SortedRunsTest, AreForTheirOwnerAloneWhateverTheMask) {
  namespace fs = std::filesystem;
  const mode_t mask = ::umask(0);
  const auto store =
      SortedRuns::Make({folder_, RunOrder::kByTime, /*run_bytes=*/64, 8}).ValueOrDie();
  for (std::int64_t i = 0; i < 20; ++i) {
    CODEN_EXPECT_OK(store->Append(BatchOf({{20 - i, i}, {i, i}})));
  }
  ::umask(mask);
  int num_files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(std::string(folder_))) {
    if (!entry.is_regular_file()) continue;
    ++num_files;
    EXPECT_EQ(entry.status().permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_GT(num_files, 0);
}

TEST_F(SortedRunsTest, SortsStablyForAnyNumberOfRuns) {
  // Few different times and many: ties across runs, and none.
  for (const int num_times : {1, 5, 1'000'000}) {
    std::mt19937 random(3);
    std::vector<Row> rows;
    for (int row = 0; row < 3000; ++row) {
      rows.emplace_back(static_cast<std::int64_t>(random() % num_times), row);
    }
    auto expected = rows;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Row& a, const Row& b) { return a.first < b.first; });
    for (const std::int64_t run_bytes : {1 << 30, 8192, 256}) {
      for (const std::size_t most_runs : {2, 3, 1000}) {
        SCOPED_TRACE(std::to_string(num_times) + " times, runs of " +
                     std::to_string(run_bytes) + ", " + std::to_string(most_runs));
        EXPECT_EQ(Through(rows, RunOrder::kByTime, run_bytes, most_runs), expected);
        EXPECT_FALSE(std::filesystem::exists(folder_));
      }
    }
  }
}

// Runs of more than one block, so that a run goes on where a bound cuts it.
TEST_F(SortedRunsTest, MergesRunsOfSeveralBlocks) {
  std::vector<Row> rows;
  std::mt19937 random(4);
  for (int row = 0; row < 200'000; ++row) {
    rows.emplace_back(static_cast<std::int64_t>(random() % 4), row);
  }
  auto expected = rows;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Row& a, const Row& b) { return a.first < b.first; });
  EXPECT_EQ(Through(rows, RunOrder::kByTime, 1 << 20, 32), expected);
}

TEST_F(SortedRunsTest, KeepsTheOrderWhereNoneIsAskedFor) {
  std::vector<Row> rows;
  for (int row = 0; row < 3000; ++row) rows.emplace_back(-row, row);
  EXPECT_EQ(Through(rows, RunOrder::kAsGiven, 512, 3), rows);
  EXPECT_EQ(Through(rows, RunOrder::kAsGiven, 1 << 30, 3), rows);
  EXPECT_TRUE(Through({}, RunOrder::kByTime, 512, 3).empty());
}

}  // namespace
}  // namespace coden::importing
