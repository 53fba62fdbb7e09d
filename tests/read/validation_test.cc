#include "coden/read/validation.h"

#include <algorithm>

#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

// "edges time 2x from 3: rule" and, for what is not fatal, "(edges ...)".
std::string Show(const InputProblem& problem) {
  std::string text = problem.input + " " + problem.column + " " +
                     std::to_string(problem.count) + "x from " +
                     std::to_string(problem.first_row) + ": " + problem.rule;
  return problem.fatal ? text : "(" + text + ")";
}

class ValidationTest : public ::testing::Test {
 protected:
  // A small correct set of inputs, which tests then damage.
  void SetUp() override {
    settings_.input.edges = WriteIntegers(
        folder_ / "e.parquet",
        {{"src", "[1, 2, 3]"}, {"dst", "[2, 3, 1]"}, {"time", "[1, 2, 2]"}});
    settings_.input.features = Features("x.parquet", "[1, 2, 3]", "[[1], [2], [3]]");
    settings_.input.labels =
        WriteIntegers(folder_ / "l.parquet", {{"node", "[1, 2]"}, {"label", "[0, 1]"}});
    settings_.input.batch_rows = 2;
  }
  std::string Features(const std::string& name, const std::string& nodes,
                       const std::string& vectors, const std::string& times = "") {
    std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>> columns = {
        {"node", ArrayOf(arrow::int64(), nodes)},
        {"x", ArrayOf(arrow::list(arrow::float32()), vectors)}};
    if (!times.empty()) columns.push_back({"time", ArrayOf(arrow::int64(), times)});
    return WriteParquet(folder_ / name, *TableOf(columns));
  }
  std::vector<std::string> Problems() {
    SilentProgress progress;
    const auto problems = ValidateInputs(settings_, {&progress});
    CODEN_EXPECT_OK(problems.status());
    std::vector<std::string> shown;
    if (problems.ok()) {
      std::transform(problems->begin(), problems->end(), std::back_inserter(shown), Show);
    }
    return shown;
  }

  TempDir folder_;
  Settings settings_;
};

using Lines = std::vector<std::string>;

TEST_F(ValidationTest, FindsNothingInCorrectInputs) {
  EXPECT_EQ(Problems(), Lines{});
  settings_.input.labels.clear();
  EXPECT_EQ(Problems(), Lines{});
}

TEST_F(ValidationTest, ListsEveryProblemOfALogWithItsCountAndFirstRow) {
  settings_.graph.events = EventMode::kSigned;
  settings_.input.edges =
      WriteIntegers(folder_ / "e.parquet", {{"src", "[1, null, 3, null, 5, 6]"},
                                            {"dst", "[2, 3, 4, 5, null, 7]"},
                                            {"time", "[5, 6, 4, -1, null, 3]"},
                                            {"op", "[1, 1, 2, 1, null, 3]"}});
  settings_.input.features =
      Features("x.parquet", "[1, 2, 3, 4, 6, 7]", "[[1], [2], [3], [3], [4], [5]]");
  const std::string null = "a null is not allowed here; fill or remove the row";
  EXPECT_EQ(
      Problems(),
      (Lines{
          "edges src 2x from 1: " + null,
          "edges time 2x from 2: times must not fall from row to row; sort the "
          "log by time, or set `input.late = drop` to drop and count such rows: 4 after "
          "6",
          "edges op 2x from 2: an op must be 1 or insert, -1 or delete: '2'",
          "edges time 1x from 3: a time must not be negative; shift the times of "
          "all inputs: -1",
          "edges dst 1x from 4: " + null, "edges time 1x from 4: " + null,
          "edges op 1x from 4: " + null}));
}

TEST_F(ValidationTest, ListsEveryMissingColumnAndWrongType) {
  settings_.graph.events = EventMode::kSigned;
  settings_.input.edges = WriteParquet(
      folder_ / "e.parquet", *TableOf({{"from", ArrayOf(arrow::int64(), "[1]")},
                                       {"time", ArrayOf(arrow::float64(), "[1]")}}));
  settings_.input.features = WriteParquet(
      folder_ / "x.parquet", *TableOf({{"node", ArrayOf(arrow::float32(), "[1]")},
                                       {"x", ArrayOf(arrow::float32(), "[1]")}}));
  settings_.input.labels = WriteParquet(
      folder_ / "l.parquet", *TableOf({{"time", ArrayOf(arrow::utf8(), R"(["a"])")}}));
  const std::string none = ": there is no such column; set `input.";
  const std::string time =
      "a time must be a whole number or a timestamp; convert the "
      "column: ";
  EXPECT_EQ(
      Problems(),
      (Lines{"edges src 1x from -1" + none + "src` to one of: from",
             "edges dst 1x from -1" + none + "dst` to one of: from",
             "edges time 1x from -1: " + time + "double",
             "edges op 1x from -1" + none + "op` to one of: from",
             "features node 1x from -1: node ids must be whole numbers or strings; "
             "convert the column: float",
             "features x 1x from -1: features must be a list of numbers in one column; "
             "convert the file: float",
             "labels node 1x from -1" + none + "node` to one of: time",
             "labels label 1x from -1" + none + "label` to one of: time",
             "labels time 1x from -1: " + time + "string"}));
}

TEST_F(ValidationTest, ListsEveryProblemOfFeaturesAndUpdates) {
  settings_.input.features =
      Features("x.parquet", "[1, 1, null, 2, 3, 3, 8, 9]",
               "[[1, 1], [1], [2, NaN], null, [3, null], [2, 2], [], [1, 2]]");
  settings_.input.feature_updates =
      Features("u.parquet", "[1, 2, 3]", "[[1, 1], [1], [2, 2, 2]]", "[5, 4, 3]");
  EXPECT_EQ(
      Problems(),
      (Lines{"features node 2x from 1: a node must not have two rows; keep one: 1",
             "features x 1x from 1: every vector must have the same length: 1 here, 2 "
             "before",
             "features node 1x from 2: a null is not allowed here; fill or remove the "
             "row",
             "features x 1x from 2: a feature must be finite as a 32-bit number; replace "
             "NaN, infinity and numbers beyond 3.4e38: nan",
             "features x 1x from 3: a vector must not be null; remove the row, or give "
             "zeros",
             "features x 1x from 4: a vector must not hold a null; give a number",
             "features x 1x from 6: a vector must not be empty",
             "(features node 2x from -1: rows name no node of the edge log)",
             "feature_updates x 2x from 1: a new vector must have the length of the "
             "features: 1 here, 2 there",
             "feature_updates time 2x from 1: times must not fall from row to row; sort "
             "the file by time: 4 after 5"}));
}

TEST_F(ValidationTest, ListsEveryProblemOfLabels) {
  settings_.input.labels =
      WriteIntegers(folder_ / "l.parquet", {{"node", "[1, 1, 2, 99, null, 98, 1]"},
                                            {"label", "[0, 1, null, 1, 1, 1, 0]"},
                                            {"time", "[5, 5, 6, 7, 7, 7, 6]"}});
  EXPECT_EQ(
      Problems(),
      (Lines{"labels node 1x from 1: a node must not have two labels for one time; keep "
             "one: 1",
             "labels label 1x from 2: a null is not allowed here; fill or remove the row",
             "labels node 1x from 4: a null is not allowed here; fill or remove the row",
             "(labels node 2x from -1: rows name no node of the edge log)"}));
}

TEST_F(ValidationTest, RemarksOnNodesWithoutFeatures) {
  settings_.input.features = Features("x.parquet", "[2, 50]", "[[1], [2]]");
  settings_.input.labels =
      WriteIntegers(folder_ / "l.parquet", {{"node", "[50, 51]"}, {"label", "[0, 1]"}});
  EXPECT_EQ(Problems(),
            (Lines{"(features node 1x from -1: rows name no node of the edge log)",
                   "(features node 2x from -1: nodes of the log without a feature row "
                   "are given zeros)",
                   "labels node 1x from -1: none of the 2 rows names a node of the edge "
                   "log; write the ids as the log has them, to the last blank: 50, 51 "
                   "here, 1, 2 in the log, which has 3 nodes"}));
}

TEST_F(ValidationTest, RefusesInputsWhoseIdsAreNotThoseOfTheLog) {
  settings_.input.features = Features("x.parquet", "[11, 12]", "[[1], [2]]");
  settings_.input.feature_updates = Features("u.parquet", "[21]", "[[1]]", "[5]");
  settings_.train.split_by = SplitKind::kFile;
  settings_.input.split = WriteParquet(
      folder_ / "s.parquet",
      *TableOf({{"node", ArrayOf(arrow::int64(), "[31, 32]")},
                {"split", ArrayOf(arrow::utf8(), R"(["train", "tests"])")}}));
  const Lines problems = Problems();
  ASSERT_EQ(problems.size(), 5u);
  EXPECT_TRUE(
      problems[0].starts_with("features node 1x from -1: none of the 2 rows names "
                              "a node of the edge log"));
  EXPECT_TRUE(problems[1].starts_with("(features node 3x from -1: nodes of the log"));
  EXPECT_TRUE(problems[2].starts_with("feature_updates node 1x from -1: none of the 1 "));
  EXPECT_EQ(problems[3],
            "split split 1x from -1: a split must be train, validate or test: 'tests'");
  EXPECT_TRUE(problems[4].starts_with("split node 1x from -1: none of the 2 rows names"));
}

TEST_F(ValidationTest, RowsThatAreDroppedAsLateAreNoProblem) {
  settings_.input.edges = WriteIntegers(
      folder_ / "e.parquet",
      {{"src", "[1, 2, 3, 1]"}, {"dst", "[2, 3, 1, 3]"}, {"time", "[1, 5, 2, 6]"}});
  EXPECT_EQ(Problems().size(), 1u);
  settings_.input.late = LatePolicy::kDrop;
  EXPECT_EQ(Problems(),
            (Lines{"(edges time 1x from 2: rows came late: dropped (`input.late`))"}));
}

TEST_F(ValidationTest, NamesColumnsThatAreNotRead) {
  settings_.input.edges = WriteIntegers(folder_ / "e.parquet", {{"src", "[1, 2]"},
                                                                {"dst", "[2, 3]"},
                                                                {"time", "[1, 5]"},
                                                                {"weight", "[3, 3]"},
                                                                {"type", "[0, 1]"}});
  EXPECT_EQ(Problems(), (Lines{"(edges  1x from -1: columns of the edge log that are not "
                               "read: weight, type)"}));
}

TEST_F(ValidationTest, FindsIdsOfAnotherKind) {
  settings_.input.labels = WriteParquet(
      folder_ / "l.parquet", *TableOf({{"node", ArrayOf(arrow::utf8(), R"(["1"])")},
                                       {"label", ArrayOf(arrow::int64(), "[1]")}}));
  settings_.input.features = WriteParquet(
      folder_ / "x.parquet",
      *TableOf({{"node", ArrayOf(arrow::utf8(), R"(["1", "1"])")},
                {"x", ArrayOf(arrow::list(arrow::float32()), "[[1], [1]]")}}));
  const std::string kind =
      " node 1x from -1: node ids must be of the kind that the edge log has; convert the "
      "column: string here, int64 there";
  EXPECT_EQ(Problems(),
            (Lines{"features" + kind,
                   "features node 1x from 1: a node must not have two rows; keep one: "
                   "'1'",
                   "labels" + kind}));
}

TEST_F(ValidationTest, ReplaysDeletionsUnlessLenient) {
  settings_.graph.events = EventMode::kSigned;
  settings_.input.edges =
      WriteIntegers(folder_ / "e.parquet", {{"src", "[1, 1, 1, 2, 2, 3]"},
                                            {"dst", "[2, 2, 2, 1, 3, 1]"},
                                            {"time", "[1, 2, 3, 4, 5, 6]"},
                                            {"op", "[1, -1, -1, -1, 1, 1]"}});
  const Lines deletions = {
      "edges op 2x from 2: the row deletes an edge that is not there; set "
      "`graph.lenient = true` to skip and count such rows"};
  EXPECT_EQ(Problems(), deletions);
  settings_.graph.lenient = true;
  EXPECT_EQ(Problems(), Lines{});
}

TEST_F(ValidationTest, ReplaysUpToTheFirstRowThatCannotBeApplied) {
  settings_.graph.events = EventMode::kSigned;
  settings_.input.edges =
      WriteIntegers(folder_ / "e.parquet", {{"src", "[1, 1, 1, 3, 1]"},
                                            {"dst", "[2, 3, 2, 1, 3]"},
                                            {"time", "[1, 2, 3, null, 5]"},
                                            {"op", "[-1, 1, 1, 1, -1]"}});
  const Lines problems = Problems();
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_TRUE(problems[0].starts_with("edges op 1x from 0: the row deletes"));
  EXPECT_TRUE(problems[1].starts_with("edges time 1x from 3: a null"));
}

TEST_F(ValidationTest, ChecksTheOtherFilesWhenOneCannotBeOpened) {
  settings_.input.edges = folder_ / "none.parquet";
  settings_.input.features = folder_.Write("x.parquet", "no Parquet at all");
  settings_.input.labels =
      WriteIntegers(folder_ / "l.parquet", {{"node", "[1, 1]"}, {"label", "[0, 0]"}});
  const Lines problems = Problems();
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0], "edges  1x from -1: no such file or directory: '" +
                             settings_.input.edges + "'");
  EXPECT_TRUE(problems[1].starts_with("features  1x from -1: cannot read '"))
      << problems[1];
  EXPECT_TRUE(problems[2].starts_with("labels node 1x from 1: a node must not have two"));
}

TEST_F(ValidationTest, FindsEmptyAndUnsetInputs) {
  settings_.input.edges = WriteIntegers(folder_ / "e.parquet",
                                        {{"src", "[]"}, {"dst", "[]"}, {"time", "[]"}});
  settings_.input.features.clear();
  settings_.input.labels =
      WriteIntegers(folder_ / "l.parquet", {{"node", "[]"}, {"label", "[]"}});
  EXPECT_EQ(
      Problems(),
      (Lines{"edges  1x from -1: the edge log has no rows; give at least one event",
             "features  1x from -1: there are no features: set `input.features`, or "
             "`input.random_features` to draw some",
             "labels  1x from -1: there are no rows: nothing to train on"}));
  settings_.input.edges.clear();
  settings_.input.random_features = 4;
  settings_.input.labels.clear();
  EXPECT_EQ(Problems(),
            Lines{"edges  1x from -1: there is no edge log: set `input.edges`"});
}

TEST_F(ValidationTest, DoesNotDependOnTheBatches) {
  settings_.input.edges =
      WriteIntegers(folder_ / "e.parquet", {{"src", "[1, null, 3, 4, null, 6, 1]"},
                                            {"dst", "[2, 3, null, 5, 6, 7, 1]"},
                                            {"time", "[5, 4, 6, 6, 2, 9, 1]"}});
  settings_.input.features =
      Features("x.parquet", "[1, 2, 4, 5, 6, 7]", "[[1], [2], [3], [4], [5], [6]]");
  settings_.input.batch_rows = 1;
  const Lines expected = Problems();
  EXPECT_EQ(expected.size(), 3u);
  for (const int batch_rows : {2, 3, 100}) {
    SCOPED_TRACE(batch_rows);
    settings_.input.batch_rows = batch_rows;
    EXPECT_EQ(Problems(), expected);
  }
}

TEST_F(ValidationTest, KeepsCredentialsToItself) {
  settings_.input.edges = "nowhere://key:secret@bucket/e.parquet";
  SilentProgress progress;
  const auto problems = ValidateInputs(settings_, {&progress}).ValueOrDie();
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].path, "nowhere://***@bucket/e.parquet");
  EXPECT_EQ(problems[0].rule.find("secret"), std::string::npos) << problems[0].rule;
}

TEST_F(ValidationTest, StopsWhenAsked) {
  SilentProgress progress;
  arrow::StopSource source;
  source.RequestStop();
  EXPECT_TRUE(
      ValidateInputs(settings_, {&progress, source.token()}).status().IsCancelled());
}

}  // namespace
}  // namespace coden
