#include "report/class_scores_internal.h"

#include <gtest/gtest.h>

#include "coden/base/error.h"
#include "report/page_checks.h"
#include "report/report_sections_internal.h"
#include "report/sample_run.h"

namespace coden {
namespace {

using sample_run::PredictionRow;

ClassCounts Counted(const std::vector<PredictionRow>& rows) {
  // Part by part, as a large file is read.
  ClassCounter counter;
  for (const auto& row : rows) {
    EXPECT_TRUE(counter.Add(*sample_run::Predictions({row})).ok());
  }
  return counter.Finish();
}

TEST(ClassScores, CountTestNodesThatArePresent) {
  const ClassCounts counts = Counted({{"b", "b"},
                                      {"b", "a"},
                                      {"a", "a"},
                                      {"b", "b"},
                                      {"a", "a", "train"},
                                      {"c", "c", "validate"},
                                      {"a", "b", "test", /*present=*/false}});
  EXPECT_EQ(counts.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(counts.pairs.at({0, 0}), 1);
  EXPECT_EQ(counts.pairs.at({1, 0}), 1);
  EXPECT_EQ(counts.pairs.at({1, 1}), 2);
  EXPECT_FALSE(counts.pairs.contains({0, 1}));
}

TEST(ClassScores, LabelsMayBeNumbers) {
  const auto integers = [](std::int64_t value) {
    return sample_run::ArrayOf<arrow::Int64Builder>(std::vector<std::int64_t>{value});
  };
  const auto strings = sample_run::Predictions({{"", ""}});
  auto table = *strings->SetColumn(0, arrow::field("label", arrow::int64()),
                                   std::make_shared<arrow::ChunkedArray>(integers(12)));
  table = *table->SetColumn(1, arrow::field("predicted", arrow::int64()),
                            std::make_shared<arrow::ChunkedArray>(integers(-3)));
  ClassCounter counter;
  ASSERT_TRUE(counter.Add(*table).ok());
  const ClassCounts counts = counter.Finish();
  EXPECT_EQ(counts.names, (std::vector<std::string>{"-3", "12"}));
  EXPECT_EQ(counts.pairs.at({1, 0}), 1);
}

TEST(ClassScores, NumbersAreOrderedByValue) {
  const ClassCounts counts = Counted({{"10", "9"}, {"9", "10"}, {"-1", "x"}});
  EXPECT_EQ(counts.names, (std::vector<std::string>{"-1", "9", "10", "x"}));
}

// class a: 3 nodes, 2 found; b: 1 node, found; a node of a is taken for b.
TEST(ClassScores, PrecisionRecallAndF1) {
  const ResultsTable table = ClassScoreTable(
      Counted({{"a", "a"}, {"a", "a"}, {"a", "b"}, {"b", "b"}, {"c", "a"}}));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_DOUBLE_EQ(std::get<double>(table.rows[0][1]), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(std::get<double>(table.rows[0][2]), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(std::get<double>(table.rows[1][1]), 0.5);
  EXPECT_DOUBLE_EQ(std::get<double>(table.rows[1][2]), 1.0);
  EXPECT_DOUBLE_EQ(std::get<double>(table.rows[1][3]), 2.0 / 3.0);
  EXPECT_EQ(std::get<std::int64_t>(table.rows[0][4]), 3);
  // Nothing was taken for c, so it has no precision; none of it was found.
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows[2][1]));
  EXPECT_EQ(std::get<double>(table.rows[2][2]), 0.0);
}

TEST(ConfusionMatrix, SmallClassesAreMerged) {
  std::vector<PredictionRow> rows;
  for (int label = 0; label < 30; ++label) {
    for (int i = 0; i <= label; ++i) {
      rows.push_back({std::to_string(label), std::to_string(29 - label)});
    }
  }
  const ClassCounts counts = Counted(rows);
  const ConfusionMatrix matrix = MakeConfusionMatrix(counts, 20);
  EXPECT_EQ(matrix.num_merged, 10u);
  ASSERT_EQ(matrix.names.size(), 21u);
  EXPECT_EQ(matrix.names.front(), "10");
  EXPECT_EQ(matrix.names.back(), "other");
  EXPECT_EQ(matrix.counts[19][20], 30);  // 29 is taken for 0
  EXPECT_EQ(matrix.counts[20][19], 1);
  std::int64_t total = 0;
  for (const auto& row : matrix.counts) {
    for (const auto count : row) total += count;
  }
  EXPECT_EQ(total, static_cast<std::int64_t>(rows.size()));
  Markup page;
  AddClasses(page, counts);
  const std::string html = page.Finish();
  CheckWellFormed(html);
  EXPECT_TRUE(Has(html, "the other 10 are merged"));
}

TEST(ConfusionMatrix, EscapesLabels) {
  Markup page;
  AddClasses(page, Counted({{"<script>alert(1)</script>", "\"'&"}}));
  const std::string html = page.Finish();
  CheckWellFormed(html);
  EXPECT_FALSE(Has(html, "<script"));
}

TEST(ClassScores, RefuseAnotherSchema) {
  const arrow::Status status = ClassCounter().Add(*sample_run::Metrics(1, 1));
  EXPECT_EQ(status.message(), "predictions.parquet must have exactly one column `label`");
  EXPECT_EQ(FaultOf(status), Fault::kCorruption);
}

}  // namespace
}  // namespace coden
