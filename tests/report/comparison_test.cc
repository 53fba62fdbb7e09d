#include "report/comparison_internal.h"

#include <gtest/gtest.h>

#include "report/page_checks.h"
#include "report/sample_run.h"

namespace coden {
namespace {

RunSummary Summary(const std::string& name, const std::string& model, int num_runs) {
  RunSummary run;
  run.name = name;
  run.settings = {{"run", {{"directory", "out/" + name}, {"seed", "7"}}},
                  {"train", {{"model", model}}}};
  run.quality = SummarizeMicroF1(*sample_run::Metrics(num_runs, 4)).ValueOrDie();
  run.num_snapshots = 12;
  run.stages = {{"read", "", "", 0.5, 3'000'000}, {"train", "", "", 2.0, 9'000'000}};
  return run;
}

std::string Page(const Comparison& comparison) {
  const auto html = RenderHtmlPage(comparison.page);
  EXPECT_TRUE(html.ok()) << html.status();
  return html.ValueOr("");
}

TEST(Comparison, PutsFiguresSideBySide) {
  RunSummary untrained = Summary("plain", "coden", 1);
  untrained.quality.reset();
  untrained.stages = {{"read", "", "", -1.0}};
  const Comparison comparison = Compare({Summary("a", "coden", 3), untrained});
  ASSERT_EQ(comparison.runs.rows.size(), 2u);
  const auto& first = comparison.runs.rows[0];
  EXPECT_EQ(first[1], Cell(std::string("coden")));
  EXPECT_EQ(first[2], Cell(Summary("a", "coden", 3).quality->average.micro_f1));
  EXPECT_EQ(first[7], Cell(Summary("a", "coden", 3).quality->scores.back().micro_f1));
  EXPECT_EQ(first[9], Cell(std::int64_t{3}));
  EXPECT_EQ(first[4], Cell(std::string("label propagation")));
  EXPECT_NEAR(std::get<double>(first[6]), 0.1, 1e-12);
  EXPECT_EQ(first[10], Cell(std::int64_t{12}));
  EXPECT_EQ(first[11], Cell(2.5));
  EXPECT_EQ(first[12], Cell(std::int64_t{9'000'000}));
  EXPECT_EQ(comparison.runs.rows[1][2], Cell{});
  EXPECT_EQ(comparison.runs.rows[1][12], Cell{});
  EXPECT_EQ(comparison.stages.rows[0],
            (std::vector<Cell>{std::string("read"), 0.5, Cell{}}));
  EXPECT_EQ(comparison.stages.rows[1],
            (std::vector<Cell>{std::string("train"), 2.0, Cell{}}));
}

TEST(Comparison, ListsSettingsThatDiffer) {
  RunSummary other = Summary("b", "coden-s", 1);
  other.settings.push_back({"input", {{"edges", "s3://key:secret@bucket/log"}}});
  const ResultsTable table = Compare({Summary("a", "coden", 1), other}).settings;
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0],
            (std::vector<Cell>{std::string("train.model"), std::string("coden"),
                               std::string("coden-s")}));
  EXPECT_EQ(table.rows[1], (std::vector<Cell>{std::string("input.edges"), Cell(),
                                              std::string("s3://***@bucket/log")}));
}

TEST(Comparison, WarnsOfScoresThatCannotBeCompared) {
  const RunSummary one = Summary("a", "coden", 1);
  EXPECT_TRUE(Compare({one, Summary("b", "coden-s", 1)}).warnings.empty());
  RunSummary other = Summary("b", "coden", 1);
  other.settings.push_back({"train", {{"protocol", "shared"}}});
  const Comparison protocols = Compare({one, other});
  ASSERT_EQ(protocols.warnings.size(), 1u);
  EXPECT_TRUE(protocols.warnings[0].starts_with("the runs have different protocols"));
  EXPECT_TRUE(Has(Page(protocols), "`shared` learns from later times"));
  other = Summary("b", "coden", 1);
  other.settings.push_back({"train", {{"split", "0.5/0.1/0.4"}}});
  const Comparison splits = Compare({one, other});
  ASSERT_EQ(splits.warnings.size(), 1u);
  EXPECT_TRUE(splits.warnings[0].starts_with("the runs have different splits or labels"));
  other = Summary("b", "coden", 1);
  other.quality = SummarizeMicroF1(*sample_run::Metrics(1, 3)).ValueOrDie();
  EXPECT_EQ(Compare({one, other}).warnings.size(), 1u);
  other.quality.reset();
  EXPECT_TRUE(Compare({one, other}).warnings.empty());
}

TEST(Comparison, DrawsAllRuns) {
  const Comparison comparison =
      Compare({Summary("a", "coden", 3), Summary("b", "coden", 1)});
  EXPECT_TRUE(comparison.settings.rows.empty());
  const std::string html = Page(comparison);
  CheckWellFormed(html);
  EXPECT_TRUE(Has(html, "No setting differs but the folder."));
  const nlohmann::json quality = ChartOf(html, "micro-f1");
  ASSERT_EQ(quality["series"].size(), 2u);
  EXPECT_TRUE(quality["series"][0].contains("low"));
  EXPECT_FALSE(quality["series"][1].contains("low"));
  EXPECT_EQ(ChartOf(html, "snapshots")["series"][0]["y"], nlohmann::json({12, 12}));
  EXPECT_EQ(ChartOf(html, "stage-memory")["series"][1]["y"], nlohmann::json({3, 9}));
  EXPECT_EQ(html, Page(Compare({Summary("a", "coden", 3), Summary("b", "coden", 1)})));
}

TEST(Comparison, EscapesAndMasksNames) {
  const std::string html = Page(Compare(
      {Summary("<script>alert(1)</script>", "</td>", 1), Summary("k:secret@x", "x", 1),
       Summary("s3://key:secret@bucket/run", "coden", 1)}));
  CheckWellFormed(html);
  EXPECT_FALSE(Has(html, "<script>alert"));
  EXPECT_FALSE(Has(html, "key:secret"));
}

}  // namespace
}  // namespace coden
