#include "coden/report/results_table.h"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "coden/base/printable.h"

namespace coden {
namespace {

ResultsTable SmallTable() {
  return {
      "Scores",
      {{"name", "name"},
       {"count", "count", ColumnType::kInteger},
       {"loss", "loss", ColumnType::kReal, 3},
       {"share", "share %", ColumnType::kPercent}},
      {{std::string("first"), std::int64_t{12}, 0.12345, 0.5},
       {std::string("2nd, \"quoted\""), std::int64_t{-3}, 1e-9},
       {std::string("größer"), Cell{}, std::numeric_limits<double>::quiet_NaN(), 1.0}},
      {{std::string("average"), Cell{}, Cell{}, 0.75}}};
}

TEST(ResultsTable, TextIsAligned) {
  EXPECT_EQ(Render(SmallTable(), TableFormat::kTable),
            "Scores\n"
            "\n"
            "name           count   loss  share %\n"
            "-------------  -----  -----  -------\n"
            "first             12  0.123    50.00\n"
            "2nd, \"quoted\"     -3  0.000\n"
            "größer                        100.00\n"
            "-------------  -----  -----  -------\n"
            "average                        75.00\n");
}

TEST(ResultsTable, TextWrapsToEightyColumns) {
  ResultsTable table;
  table.columns = {{"file", "file"}, {"problem", "problem"}};
  std::string sentence = "every";
  for (int i = 0; i < 30; ++i) sentence += " word";
  table.rows = {{std::string("edges.parquet"), sentence},
                {std::string(100, 'x'), std::string("short")}};
  const std::string text = Render(table, TableFormat::kTable);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(end - start, 80u) << text;
    start = end + 1;
  }
}

TEST(ResultsTable, TextDoesNotCutAPathInTheLastColumn) {
  ResultsTable table;
  table.columns = {{"file", "file"}};
  const std::string path(120, 'p');
  table.rows = {{path}};
  EXPECT_NE(Render(table, TableFormat::kTable).find(path), std::string::npos);
}

TEST(ResultsTable, JsonReadsBack) {
  const auto rows = nlohmann::json::parse(Render(SmallTable(), TableFormat::kJson));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["name"], "first");
  EXPECT_EQ(rows[0]["count"], 12);
  EXPECT_EQ(rows[0]["loss"], 0.12345);
  EXPECT_EQ(rows[0]["share"], 0.5);
  EXPECT_EQ(rows[1]["name"], "2nd, \"quoted\"");
  EXPECT_TRUE(rows[1]["share"].is_null());
  EXPECT_EQ(rows[2]["name"], "größer");
  EXPECT_TRUE(rows[2]["count"].is_null());
  EXPECT_TRUE(rows[2]["loss"].is_null());
}

TEST(ResultsTable, CsvFollowsRfc4180) {
  EXPECT_EQ(Render(SmallTable(), TableFormat::kCsv),
            "name,count,loss,share\r\n"
            "first,12,0.12345,0.5\r\n"
            "\"2nd, \"\"quoted\"\"\",-3,1e-09,\r\n"
            "größer,,,1\r\n");
}

TEST(ResultsTable, CsvKeepsLineBreaksInsideQuotes) {
  const ResultsTable table{"", {{"name", "name"}}, {{std::string("a\r\nb")}}, {}};
  EXPECT_EQ(Render(table, TableFormat::kCsv), "name\r\n\"a\r\nb\"\r\n");
}

TEST(ResultsTable, HostileTextIsHarmlessInEveryFormat) {
  const std::string hostile = "\x1b]0;owned\a\xff\xc2\x9b<script>\xe2\x80\xae";
  const ResultsTable table{hostile, {{hostile, hostile}}, {{hostile}}, {{hostile}}};
  for (const auto format : {TableFormat::kTable, TableFormat::kJson, TableFormat::kCsv}) {
    const std::string text = Render(table, format);
    EXPECT_EQ(Printable(text, PrintableMode::kMultiLine), text);
  }
  const auto rows = nlohmann::json::parse(Render(table, TableFormat::kJson));
  EXPECT_EQ(rows[0].begin().value(), "\x1b]0;owned\a\\xff\xc2\x9b<script>\xe2\x80\xae");
}

TEST(ResultsTable, EmptyTables) {
  EXPECT_EQ(Render({}, TableFormat::kJson), "[]\n");
  EXPECT_EQ(Render({}, TableFormat::kCsv), "\r\n");
  const ResultsTable no_rows{"", {{"a", "a"}, {"b", "b"}}, {}, {}};
  EXPECT_EQ(Render(no_rows, TableFormat::kTable), "a  b\n-  -\n");
  EXPECT_EQ(Render(no_rows, TableFormat::kCsv), "a,b\r\n");
}

TEST(ResultsTable, RowsOfAnotherLengthAreFilledOrCut) {
  const ResultsTable table{
      "", {{"a", "a"}, {"b", "b"}}, {{}, {std::string("1"), std::string("2"), 3.0}}, {}};
  EXPECT_EQ(Render(table, TableFormat::kCsv), "a,b\r\n,\r\n1,2\r\n");
  EXPECT_EQ(Render(table, TableFormat::kTable), "a  b\n-  -\n\n1  2\n");
}

TEST(ResultsTable, ARecordIsAnObjectAndALineForEachFact) {
  ResultsTable needs;
  needs.key = "needs";
  needs.title = "Needs";
  needs.is_record = true;
  needs.columns = {{"rows", "rows of the log", ColumnType::kCount},
                   {"memory_bytes", "memory", ColumnType::kBytes},
                   {"disk_bytes", "disk", ColumnType::kBytes},
                   {"fits", "fits", ColumnType::kBoolean},
                   {.key = "note", .header = "note", .if_empty = "(none)"}};
  needs.rows = {{std::int64_t{177000}, std::int64_t{294000001}, std::int64_t{3140000},
                 true, Cell()}};
  EXPECT_EQ(Render(needs, TableFormat::kTable),
            "Needs\n"
            "\n"
            "property         value\n"
            "---------------  -------\n"
            "rows of the log  177,000\n"
            "memory           295 MB\n"
            "disk             3.2 MB\n"
            "fits             yes\n"
            "note             (none)\n");
  const auto object = nlohmann::json::parse(Render(needs, TableFormat::kJson));
  EXPECT_EQ(object, nlohmann::json::parse(
                        R"({"rows": 177000, "memory_bytes": 294000001,
                            "disk_bytes": 3140000, "fits": true, "note": null})"));
  EXPECT_EQ(Render(needs, TableFormat::kCsv),
            "rows,memory_bytes,disk_bytes,fits,note\r\n"
            "177000,294000001,3140000,true,\r\n");
}

}  // namespace
}  // namespace coden
