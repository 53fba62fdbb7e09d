#include "coden/report/micro_f1_table.h"

#include <limits>

#include <gtest/gtest.h>

#include "coden/base/error.h"
#include "report/sample_run.h"

namespace coden {
namespace {

using sample_run::Metrics;

TEST(MicroF1Table, OneRun) {
  const auto table = MicroF1Table(*Metrics({{0, 2, 0.80, 0.70, 0.78},  //
                                            {0, 1, 0.70, 0.50, 0.60}}));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(Render(*table, TableFormat::kTable),
            R"(Micro-F1 on test nodes; gain over label propagation

prediction  time  test nodes  Micro-F1 %  Macro-F1 %  Micro-F1 all %  majority %  propagation %   gain
----------  ----  ----------  ----------  ----------  --------------  ----------  -------------  -----
         1  2001         500       70.00       50.00           60.00       30.00          60.00  10.00
         2  2002        1000       80.00       70.00           78.00       30.00          70.00  10.00
----------  ----  ----------  ----------  ----------  --------------  ----------  -------------  -----
   average                         75.00       60.00           69.00       30.00          65.00  10.00
      last  2002        1000       80.00       70.00           78.00       30.00          70.00  10.00
)");
}

TEST(MicroF1Table, SeveralRunsShowTheDeviation) {
  // Averages of the runs are 0.70 and 0.80, so theirs is 0.0707 too.
  const auto table = MicroF1Table(*Metrics({{0, 1, 0.60, 0.5, 0.5},
                                            {0, 2, 0.80, 0.5, 0.5},
                                            {1, 1, 0.70, 0.5, 0.5},
                                            {1, 2, 0.90, 0.5, 0.5}}));
  ASSERT_TRUE(table.ok()) << table.status();
  const std::string csv = Render(*table, TableFormat::kCsv);
  EXPECT_TRUE(csv.starts_with("prediction,time,test_nodes,micro_f1,micro_f1_deviation,"));
  ASSERT_EQ(table->rows.size(), 2u);
  EXPECT_NEAR(std::get<double>(table->rows[0][3]), 0.65, 1e-12);
  EXPECT_NEAR(std::get<double>(table->rows[0][4]), 0.0707107, 1e-6);
  EXPECT_NEAR(std::get<double>(table->footer[0][3]), 0.75, 1e-12);
  EXPECT_NEAR(std::get<double>(table->footer[0][4]), 0.0707107, 1e-6);
}

TEST(MicroF1Table, ValuesThatAreNotFiniteCountNowhere) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto table =
      MicroF1Table(*Metrics({{0, 1, none, none, none}, {0, 2, 0.5, 0.5, 0.5}}));
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(std::get<double>(table->footer[0][3]), 0.5);
  EXPECT_EQ(std::get<std::int64_t>(table->footer[1][1]), 2002);
  EXPECT_EQ(Render(*table, TableFormat::kTable).find("nan"), std::string::npos);
}

TEST(MicroF1Table, TheTitleSaysWhatTheScoresAreOf) {
  const auto table = MicroF1Table(*Metrics(3, 2), {{"run", {{"seed", "4"}}},
                                                   {"train",
                                                    {{"model", "coden"},
                                                     {"inputs", "embedding, features"},
                                                     {"label_columns", "10"},
                                                     {"averages", ""},
                                                     {"protocol", "each"},
                                                     {"runs", "3"},
                                                     {"split", "0.7/0.1/0.2"},
                                                     {"split_by", "seed"}}}});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->title,
            "Micro-F1 on test nodes, mean of 3 runs; gain over label propagation\n"
            "coden on embedding, features, label columns (10 folds); protocol each; "
            "3 seeds, 4 to 6; split 0.7/0.1/0.2 by seed");
}

TEST(MicroF1Table, NoRowsGiveNoFooter) {
  const auto table = MicroF1Table(*Metrics(std::vector<sample_run::MetricsRow>{}));
  ASSERT_TRUE(table.ok());
  EXPECT_TRUE(table->rows.empty());
  EXPECT_TRUE(table->footer.empty());
}

TEST(MicroF1Table, RefusesAnotherSchema) {
  auto metrics = Metrics(1, 2);
  const auto missing = MicroF1Table(**metrics->RemoveColumn(5));
  EXPECT_EQ(missing.status().message(),
            "metrics.parquet must have exactly one column `micro_f1`");
  EXPECT_EQ(FaultOf(missing.status()), Fault::kCorruption);
  const auto renamed = MicroF1Table(**metrics->SetColumn(
      5, arrow::field("micro_f1", arrow::int64()), metrics->GetColumnByName("time")));
  EXPECT_EQ(renamed.status().message(),
            "metrics.parquet: column `micro_f1` must be double: int64");
}

}  // namespace
}  // namespace coden
