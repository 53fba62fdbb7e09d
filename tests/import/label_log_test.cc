#include "import/label_log_internal.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "support/parquet.h"

namespace coden::importing {
namespace {

using Row = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // node, label, time

std::string Json(const std::vector<Row>& rows, int part) {
  std::string text = "[";
  for (const Row& row : rows) {
    const std::int64_t value = part == 0   ? std::get<0>(row)
                               : part == 1 ? std::get<1>(row)
                                           : std::get<2>(row);
    text += (text.size() > 1 ? "," : "") + std::to_string(value);
  }
  return text + "]";
}

void Collect(const arrow::RecordBatch& batch, std::vector<Row>* out) {
  const auto value = [&](int column, std::int64_t row) {
    return static_cast<const arrow::Int64Array&>(*batch.column(column)).Value(row);
  };
  for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
    out->emplace_back(value(0, row), value(1, row), value(2, row));
  }
}

// What holds for each node at each time, read off the rows.
std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> Holding(
    const std::vector<Row>& rows, int num_nodes, int num_times) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> holding;
  for (int node = 0; node < num_nodes; ++node) {
    for (int time = 0; time < num_times; ++time) {
      for (const auto& [row_node, label, row_time] : rows) {
        if (row_node == node && row_time <= time) holding[{node, time}] = label;
      }
    }
  }
  return holding;
}

TEST(LabelLog, SaysTheSameWithOneRowPerChange) {
  std::mt19937 random(11);
  std::vector<Row> rows;
  for (int row = 0; row < 300; ++row)
    rows.emplace_back(random() % 5, random() % 2, row / 9);
  auto log = LabelLog::Make(arrow::int64(), arrow::int64()).ValueOrDie();
  std::vector<Row> kept;
  for (std::size_t begin = 0; begin < rows.size(); begin += 7) {
    const std::vector<Row> part(rows.begin() + begin,
                                rows.begin() + std::min(rows.size(), begin + 7));
    Collect(*log.Push(*ArrayOf(arrow::int64(), Json(part, 0)),
                      *ArrayOf(arrow::int64(), Json(part, 1)),
                      *ArrayOf(arrow::int64(), Json(part, 2)))
                 .ValueOrDie(),
            &kept);
  }
  Collect(*log.Finish().ValueOrDie(), &kept);
  EXPECT_EQ(Holding(kept, 5, 34), Holding(rows, 5, 34));
  EXPECT_EQ(kept.size() + log.num_repeated() + log.num_replaced(), rows.size());
  EXPECT_GT(log.num_replaced(), 0);
  std::map<std::int64_t, std::int64_t> last;
  std::map<std::pair<std::int64_t, std::int64_t>, int> per_time;
  for (const auto& [node, label, time] : kept) {
    if (last.contains(node)) {
      EXPECT_NE(last[node], label);
    }
    last[node] = label;
    const int count = ++per_time[std::pair(node, time)];
    EXPECT_EQ(count, 1);
  }
  EXPECT_FALSE(log.AllZero().ValueOrDie());
}

TEST(LabelLog, KnowsThatAllAreZero) {
  auto log = LabelLog::Make(arrow::utf8(), arrow::int64()).ValueOrDie();
  const auto rows = log.Push(*ArrayOf(arrow::utf8(), R"(["a", "b", "a"])"),
                             *ArrayOf(arrow::int64(), "[0, 0, 0]"),
                             *ArrayOf(arrow::int64(), "[1, 1, 2]"));
  EXPECT_EQ((*rows)->num_rows(), 2);
  EXPECT_TRUE(log.AllZero().ValueOrDie());
  EXPECT_EQ(log.num_repeated(), 0);  // the last row waits for more of its time
  EXPECT_EQ((*log.Finish())->num_rows(), 0);
  EXPECT_EQ(log.num_repeated(), 1);
}

}  // namespace
}  // namespace coden::importing
