#include "coden/read/labels.h"

#include "read/label_amounts_internal.h"
#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

using Columns = std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>>;

class LabelsTest : public ::testing::Test {
 protected:
  arrow::Result<Labels> Read(const Columns& columns, int batch_rows = 2) {
    InputOptions input;
    input.labels = WriteParquet(folder_ / "l.parquet", *TableOf(columns));
    input.batch_rows = batch_rows;
    return ReadLabels(input);
  }
  static Columns Integers(const std::string& nodes, const std::string& labels,
                          const std::string& times = "") {
    Columns columns = {{"node", ArrayOf(arrow::int64(), nodes)},
                       {"label", ArrayOf(arrow::int64(), labels)}};
    if (!times.empty()) columns.push_back({"time", ArrayOf(arrow::int64(), times)});
    return columns;
  }
  std::string At(const std::string& column) {
    return "'" + (folder_ / "l.parquet") + "', column '" + column + "'";
  }

  TempDir folder_;
};

TEST_F(LabelsTest, WithoutTimesHoldAlways) {
  const Labels labels = Read(Integers("[30, 10, 20]", "[7, -2, 7]")).ValueOrDie();
  EXPECT_TRUE(labels.classes->Equals(ArrayOf(arrow::int64(), "[-2, 7]")));
  EXPECT_EQ(labels.nodes->Show(1), "10");
  EXPECT_EQ(labels.At(0), (std::vector<std::int32_t>{1, 0, 1}));
}

TEST_F(LabelsTest, WithTimesHoldFromThenOn) {
  const Labels labels =
      Read(Integers("[1, 2, 1, 1]", "[5, 5, 6, 5]", "[10, 20, 15, 30]")).ValueOrDie();
  EXPECT_EQ(labels.At(9), (std::vector<std::int32_t>{-1, -1}));
  EXPECT_EQ(labels.At(10), (std::vector<std::int32_t>{0, -1}));
  EXPECT_EQ(labels.At(20), (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(labels.At(30), (std::vector<std::int32_t>{0, 0}));
}

TEST_F(LabelsTest, ClassesMayBeStringsOfAnyType) {
  for (const auto& type :
       {arrow::utf8(), arrow::dictionary(arrow::int32(), arrow::utf8())}) {
    SCOPED_TRACE(type->ToString());
    const Labels labels = Read({{"node", ArrayOf(arrow::utf8(), R"(["u", "v", "w"])")},
                                {"label", ArrayOf(type, R"(["red", "blue", "red"])")}})
                              .ValueOrDie();
    EXPECT_TRUE(labels.classes->Equals(ArrayOf(arrow::utf8(), R"(["blue", "red"])")));
    EXPECT_EQ(labels.At(0), (std::vector<std::int32_t>{1, 0, 1}));
  }
}

TEST_F(LabelsTest, RefusesTwoLabelsForOneTime) {
  const std::string rule =
      ", row 2: a node must not have two labels for one time; keep one: 1";
  for (const int batch_rows : {1, 2, 100}) {
    SCOPED_TRACE(batch_rows);
    ExpectInputError(Read(Integers("[1, 2, 1]", "[5, 5, 5]"), batch_rows),
                     At("node") + rule);
    ExpectInputError(Read(Integers("[1, 1, 1]", "[5, 6, 7]", "[3, 4, 3]"), batch_rows),
                     At("node") + rule);
  }
}

TEST_F(LabelsTest, RefusesNullsAndOtherTypes) {
  const std::string rule = ": a null is not allowed here; fill or remove the row";
  ExpectInputError(Read(Integers("[1, 2, null]", "[5, 5, 5]")),
                   At("node") + ", row 2" + rule);
  ExpectInputError(Read(Integers("[1, 2, 3]", "[5, null, 5]")),
                   At("label") + ", row 1" + rule);
  ExpectInputError(Read(Integers("[1, 2, 3]", "[5, 5, 5]", "[null, 1, 1]")),
                   At("time") + ", row 0" + rule);
  ExpectInputErrorWith(Read(Integers("[1]", "[5]", "[-1]")),
                       At("time") + ", row 0: a time must not be negative");
  ExpectInputError(Read({{"node", ArrayOf(arrow::int64(), "[1]")},
                         {"label", ArrayOf(arrow::float64(), "[1.5]")}}),
                   At("label") +
                       ", row 0: a label must be a class: a whole number, a string or a "
                       "bool; this version does not estimate values: 1.5");
  ExpectInputError(
      Read({{"node", ArrayOf(arrow::int64(), "[1]")},
            {"label", ArrayOf(arrow::date32(), "[1]")}}),
      At("label") +
          ": a label must be a whole number, a string or a bool; convert the "
          "column: date32[day]");
  ExpectInputError(Read({{"node", ArrayOf(arrow::int64(), "[1]")},
                         {"class", ArrayOf(arrow::int64(), "[1]")}}),
                   At("label") +
                       ": there is no such column; set `input.label` to one of: node, "
                       "class");
  ExpectInputError(
      Read(Integers("[]", "[]")),
      "'" + (folder_ / "l.parquet") + "': there are no rows: nothing to train on");
}

TEST_F(LabelsTest, BooleansAndWholeNumbersWithAPointAreClasses) {
  const auto nodes = ArrayOf(arrow::int64(), "[1, 2, 3]");
  for (const auto& [type, json, classes] :
       {std::tuple{arrow::boolean(), "[true, false, true]", "[0, 1]"},
        std::tuple{arrow::float64(), "[2.0, -1.0, 2.0]", "[-1, 2]"},
        std::tuple{arrow::float32(), "[0, 3, 0]", "[0, 3]"}}) {
    SCOPED_TRACE(type->ToString());
    const auto labels = Read({{"node", nodes}, {"label", ArrayOf(type, json)}});
    CODEN_EXPECT_OK(labels.status());
    EXPECT_TRUE(labels->classes->Equals(*ArrayOf(arrow::int64(), classes)));
    EXPECT_EQ(labels->entries[0].label, labels->entries[2].label);
  }
}

TEST_F(LabelsTest, ManyDifferentNumbersLookLikeAmounts) {
  const auto warning = [&](int rows, int classes) {
    arrow::Int64Builder nodes, values;
    for (int row = 0; row < rows; ++row) {
      EXPECT_TRUE(nodes.Append(row).ok());
      EXPECT_TRUE(values.Append(row % classes).ok());
    }
    const Labels labels = Read({{"node", nodes.Finish().ValueOrDie()},
                                {"label", values.Finish().ValueOrDie()}})
                              .ValueOrDie();
    return AmountsWarning(*labels.classes->type(), labels.classes->length(),
                          static_cast<std::int64_t>(labels.entries.size()));
  };
  EXPECT_EQ(
      warning(500, 101),
      "the labels look like amounts: 101 different numbers in 500 rows; each number "
      "is treated as a class of its own, and amounts are not estimated");
  EXPECT_TRUE(warning(2000, 160).has_value());
  EXPECT_TRUE(warning(51, 51).has_value());
  EXPECT_EQ(warning(500, 50), std::nullopt);
  EXPECT_EQ(warning(5050, 101), std::nullopt);
}

}  // namespace
}  // namespace coden
