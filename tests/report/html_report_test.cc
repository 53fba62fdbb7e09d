#include "coden/report/html_report.h"

#include <gtest/gtest.h>

#include "coden/pipeline/error.h"
#include "report/epoch_log_internal.h"
#include "report/flow_picture_internal.h"
#include "report/ini_sections_internal.h"
#include "report/sample_run.h"

namespace coden {
namespace {

std::string Make(const ReportInputs& inputs) {
  const auto html = HtmlReport(inputs);
  EXPECT_TRUE(html.ok()) << html.status();
  return html.ValueOr("");
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Every element but meta is closed, in order; "<" occurs in markup only.
void CheckWellFormed(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos;
       at = html.find('<', at + 1)) {
    const std::size_t end = html.find_first_of(" >", at);
    const std::string tag = html.substr(at + 1, end - at - 1);
    if (tag == "!DOCTYPE" || tag == "meta") continue;
    if (tag.front() != '/') {
      open.push_back(tag);
      continue;
    }
    ASSERT_FALSE(open.empty());
    ASSERT_EQ(open.back(), tag.substr(1));
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

TEST(HtmlReport, HoldsEverySection) {
  const std::string html = Make(sample_run::Report());
  CheckWellFormed(html);
  for (const char* part :
       {"<h1>citations by year</h1>", "Prediction quality", "Sampling", "Graph",
        "Training", "Notes", "Inputs", "Settings", "Versions", "236,894 events",
        "7 min 11 s", "λ = 0.1", "112 self loops were dropped.", "prefers-color-scheme",
        "mean of 3 runs", "<details>"}) {
    EXPECT_TRUE(Has(html, part)) << part;
  }
  EXPECT_EQ(html, Make(sample_run::Report()));
}

TEST(HtmlReport, NeedsNoNetworkAndRunsNoScript) {
  const std::string html = Make(sample_run::Report());
  for (const char* part :
       {"<script", "http:", "https:", "url(", "src=", "href=", "@import", "nan", "NaN"}) {
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
  EXPECT_TRUE(Has(html, "no values"));
}

TEST(HtmlReport, EscapesEveryText) {
  const std::string hostile = "</style><script>alert('x')</script>\"'\x01\xff]]>";
  ReportInputs inputs = sample_run::Report();
  inputs.title = hostile;
  inputs.settings_ini = "[" + hostile + "]\n" + hostile + " = " + hostile + "\n";
  inputs.stages = {{hostile, hostile, hostile, 1.0}};
  inputs.notes = {hostile};
  inputs.inputs = {{hostile, hostile}};
  inputs.versions = {{hostile, hostile}};
  inputs.epoch_lines = {hostile, "{\"epoch\": \"" + hostile + "\"}",
                        "{\"epoch\": 1, \"loss\": \"x\"}"};
  const std::string html = Make(inputs);
  CheckWellFormed(html);
  EXPECT_FALSE(Has(html, "<script"));
  EXPECT_FALSE(Has(html, "\x01"));
  EXPECT_FALSE(Has(html, "\xff"));
  EXPECT_TRUE(Has(html, "2 lines of metrics.jsonl"));
}

TEST(HtmlReport, MasksCredentials) {
  const std::string uri = "s3://key:secret@bucket/log";
  ReportInputs inputs;
  inputs.title = uri;
  inputs.settings_ini = "[input]\nedges = " + uri + "\n";
  inputs.stages = {{"read", uri, uri, 1.0}};
  inputs.notes = {uri};
  inputs.inputs = {{"edges", uri}};
  EXPECT_FALSE(Has(Make(inputs), "secret"));
}

TEST(HtmlReport, CutsLongTables) {
  ReportInputs inputs;
  inputs.schedule = sample_run::ScheduleTable(2000, 3);
  const std::string html = Make(inputs);
  EXPECT_LT(html.size(), 600'000u);
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

TEST(EpochLog, AveragesRunsAndSkipsTornLines) {
  const std::vector<std::string> lines = {
      R"({"run": 0, "epoch": 1, "loss": 2.0, "validate_micro_f1": 0.5})",
      R"({"run": 1, "epoch": 1, "loss": 1.0})", R"({"run": 0, "epoch": 2, "lo)", "",
      "[]"};
  const EpochLog log = ReadEpochLog(lines);
  ASSERT_EQ(log.epochs.size(), 1u);
  EXPECT_EQ(log.epochs[0].loss, 1.5);
  EXPECT_EQ(log.epochs[0].validate_micro_f1, 0.5);
  EXPECT_TRUE(std::isnan(log.epochs[0].validate_loss));
  EXPECT_EQ(log.num_runs, 2u);
  EXPECT_EQ(log.num_skipped, 2u);
}

TEST(IniSections, SplitsWhatToIniWrites) {
  const auto sections =
      IniSections("# note\n[run]\nseed = 7\n\n[input]\nedges = a=b\nodd");
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(FindIniSetting(sections, "run", "seed"), "7");
  EXPECT_EQ(FindIniSetting(sections, "input", "edges"), "a=b");
  EXPECT_EQ(FindIniSetting(sections, "input", "odd"), "");
  EXPECT_EQ(FindIniSetting(sections, "run", "edges"), "");
}

}  // namespace
}  // namespace coden
