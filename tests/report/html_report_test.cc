#include "coden/report/html_report.h"

#include <gtest/gtest.h>

#include "coden/base/error.h"
#include "report/epoch_log_internal.h"
#include "report/flow_picture_internal.h"
#include "report/page_checks.h"
#include "report/sample_run.h"

namespace coden {
namespace {

std::string Make(const ReportInputs& inputs) {
  const auto html = HtmlReport(inputs);
  EXPECT_TRUE(html.ok()) << html.status();
  return html.ValueOr("");
}

TEST(HtmlReport, HoldsEverySection) {
  const std::string html = Make(sample_run::Report());
  CheckWellFormed(html);
  for (const char* part : {"<h1>citations by year</h1>",
                           "Prediction quality",
                           "Sampling",
                           "Graph",
                           "Training",
                           "Notes",
                           "Inputs",
                           "Settings",
                           "Versions",
                           "236,894 events",
                           "7 min 11 s",
                           "λ = 0.1",
                           "112 self loops were dropped.",
                           "coden on embedding, label columns (4 folds), averages; "
                           "protocol each; 3 seeds, 7 to 9; split 0.7/0.1/0.2 by time",
                           "gain over label propagation",
                           "best control: label propagation",
                           "prefers-color-scheme",
                           "mean of 3 runs",
                           "<details>",
                           "Confusion matrix",
                           "Scores by class",
                           "Events",
                           "Graph size",
                           "Solver work",
                           "Proven error",
                           "Time by stage",
                           "Memory by stage"}) {
    EXPECT_TRUE(Has(html, part)) << part;
  }
  EXPECT_EQ(html, Make(sample_run::Report()));
}

TEST(HtmlReport, FetchesNothing) {
  const std::string html = WithoutScripts(Make(sample_run::Report()));
  for (const char* part :
       {"http:", "https:", "url(", "src=", "href=", "@import", "nan", "NaN"}) {
    EXPECT_FALSE(Has(html, part)) << part;
  }
}

TEST(HtmlReport, WithoutMetricsAndEpochs) {
  ReportInputs inputs = sample_run::Report();
  inputs.metrics = nullptr;
  inputs.epoch_lines.clear();
  const std::string html = Make(inputs);
  CheckWellFormed(html);
  EXPECT_TRUE(Has(html, "No metrics"));
  EXPECT_FALSE(Has(html, "<h2>Training</h2>"));
}

TEST(HtmlReport, OfNothingAtAll) {
  CheckWellFormed(Make({}));
  ReportInputs empty;
  empty.schedule = sample_run::ScheduleTable(0, 0)->Slice(0, 0);
  empty.metrics = sample_run::Metrics(0, 0);
  const std::string html = Make(empty);
  CheckWellFormed(html);
  EXPECT_TRUE(Has(html, "No values to show."));
}

TEST(HtmlReport, EscapesEveryText) {
  const std::string hostile = "</style><script>alert('x')</script>\"'\x01\xff]]>";
  ReportInputs inputs = sample_run::Report();
  inputs.title = hostile;
  inputs.settings = {{hostile, {{hostile, hostile}}}};
  inputs.stages = {{hostile, hostile, hostile, 1.0}};
  inputs.notes = {hostile};
  inputs.inputs = {{hostile, hostile}};
  inputs.versions = {{hostile, hostile}};
  inputs.epoch_lines = {hostile, "{\"epoch\": \"" + hostile + "\"}",
                        "{\"epoch\": 1, \"loss\": \"x\"}"};
  const std::string html = Make(inputs);
  CheckWellFormed(html);
  EXPECT_FALSE(Has(html, "<script>alert"));
  EXPECT_FALSE(Has(WithoutScripts(html), "<script"));
  EXPECT_FALSE(Has(html, "\x01"));
  EXPECT_FALSE(Has(html, "\xff"));
  EXPECT_TRUE(Has(html, "2 lines of metrics.jsonl"));
}

TEST(HtmlReport, MasksCredentials) {
  const std::string uri = "s3://key:secret@bucket/log";
  ReportInputs inputs;
  inputs.title = uri;
  inputs.settings = {{"input", {{"edges", uri}}}};
  inputs.stages = {{"read", uri, uri, 1.0}};
  inputs.notes = {uri};
  inputs.inputs = {{"edges", uri}};
  EXPECT_FALSE(Has(Make(inputs), "secret"));
}

TEST(HtmlReport, CutsLongTables) {
  ReportInputs inputs;
  inputs.schedule = sample_run::ScheduleTable(2000, 3);
  const std::string html = Make(inputs);
  EXPECT_LT(html.size(), 900'000u);
  EXPECT_TRUE(Has(html, "The first 500 of "));
}

TEST(HtmlReport, RefusesAnotherSchema) {
  ReportInputs inputs;
  inputs.schedule = sample_run::Metrics(1, 1);
  const auto html = HtmlReport(inputs);
  EXPECT_EQ(html.status().message(),
            "schedule.parquet must have exactly one column `snapshot`");
  EXPECT_EQ(FaultOf(html.status()), Fault::kCorruption);
}

TEST(FlowPicture, FoldsLongListsAndTexts) {
  const std::vector<StageFigure> stages(
      16, {"stage", std::string(400, 'w'), "many words " + std::string(90, 'x'), -1.0});
  for (const auto direction : {FlowDirection::kAcross, FlowDirection::kDown}) {
    const std::string svg = FlowPicture(stages, direction);
    CheckWellFormed(svg);
    EXPECT_TRUE(Has(svg, "…"));
    EXPECT_TRUE(Has(svg, "kept"));
  }
  EXPECT_EQ(FlowPicture({}, FlowDirection::kAcross), "");
}

TEST(EpochLog, KeepsCurvesApartAndSkipsTornLines) {
  const std::vector<std::string> lines = {
      R"({"run": 0, "epoch": 1, "loss": 2.0, "validate_micro_f1": 0.5})",
      R"({"run": 1, "lesson": 3, "epoch": 1, "loss": 1.0})",
      R"({"run": 0, "epoch": 1, "loss": 1.5})",
      R"({"run": 0, "epoch": 2, "lo)",
      "",
      "[]"};
  const EpochLog log = ReadEpochLog(lines);
  ASSERT_EQ(log.curves.size(), 2u);
  EXPECT_EQ(log.curves.at({0, 0}).at(1).loss, 1.5);  // the last line of an epoch counts
  EXPECT_EQ(log.curves.at({1, 3}).at(1).loss, 1.0);
  EXPECT_TRUE(std::isnan(log.curves.at({0, 0}).at(1).validate_loss));
  EXPECT_EQ(log.num_skipped, 2u);
}

TEST(HtmlReport, ManyCurvesBecomeOneWithItsSpread) {
  ReportInputs inputs;
  for (int lesson = 0; lesson < 6; ++lesson) {
    for (int epoch = 1; epoch <= 3; ++epoch) {
      inputs.epoch_lines.push_back("{\"run\": 0, \"lesson\": " + std::to_string(lesson) +
                                   ", \"epoch\": " + std::to_string(epoch) +
                                   ", \"loss\": " + std::to_string(lesson) + "}");
    }
  }
  const nlohmann::json loss = ChartOf(Make(inputs), "loss");
  ASSERT_EQ(loss["series"].size(), 1u);
  EXPECT_EQ(loss["series"][0]["y"], nlohmann::json({2.5, 2.5, 2.5}));
  EXPECT_EQ(loss["series"][0]["low"], nlohmann::json({0, 0, 0}));
  EXPECT_EQ(loss["series"][0]["high"], nlohmann::json({5, 5, 5}));
}

TEST(HtmlReport, SigmaGrowsAndFallsBackAtEverySnapshot) {
  ReportInputs inputs;
  inputs.schedule = sample_run::ScheduleTable(/*num_predictions=*/1, /*num_between=*/0);
  inputs.settings = {{"sample", {{"lambda", "0.1"}}}};
  const nlohmann::json sigma = ChartOf(Make(inputs), "sigma");
  EXPECT_EQ(sigma["x"], nlohmann::json({2000, 3200, 3200, 4400, 4400}));
  EXPECT_EQ(sigma["series"][0]["y"], nlohmann::json({0, 0.1003, 0, 0.03, 0}));
  EXPECT_EQ(sigma["series"][2]["at"], nlohmann::json({3}));
  EXPECT_EQ(sigma["levels"][0]["value"], 0.1);
}

}  // namespace
}  // namespace coden
