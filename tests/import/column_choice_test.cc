#include "import/column_choice_internal.h"

#include <gtest/gtest.h>

#include "support/status.h"

namespace coden::importing {
namespace {

TextFormat Named(std::vector<std::string> names) {
  const auto num_fields = static_cast<int>(names.size());
  return {',', true, std::move(names), num_fields};
}

TextFormat Unnamed(int num_fields) { return {',', false, {}, num_fields}; }

std::vector<int> Choose(const TextFormat& format, const EdgeListOptions& options = {}) {
  const auto choice = ChooseColumns(format, options, "'f'");
  EXPECT_TRUE(choice.ok()) << choice.status().ToString();
  if (!choice.ok()) return {};
  return {choice->src, choice->dst, choice->time, choice->op};
}

TEST(ColumnChoice, GuessesByName) {
  EXPECT_EQ(Choose(Named({"weight", "Target", "Source", "Timestamp"})),
            (std::vector{2, 1, 3, kNoColumn}));
  EXPECT_EQ(Choose(Named({"u", "i", "ts", "op"})), (std::vector{0, 1, 2, 3}));
}

TEST(ColumnChoice, GuessesByPlaceWithoutNames) {
  EXPECT_EQ(Choose(Unnamed(3)), (std::vector{0, 1, 2, kNoColumn}));
  EdgeListOptions options;
  options.time = "1";
  EXPECT_EQ(Choose(Unnamed(4), options), (std::vector{1, 2, 0, kNoColumn}));
  options.time = "row";
  EXPECT_EQ(Choose(Unnamed(2), options), (std::vector{0, 1, kRowNumber, kNoColumn}));
}

TEST(ColumnChoice, TakesNamesBeforeNumbers) {
  EdgeListOptions options;
  options.src = "2";
  options.dst = "b";
  options.time = "3";
  EXPECT_EQ(Choose(Named({"2", "b", "c"}), options), (std::vector{0, 1, 2, kNoColumn}));
}

TEST(ColumnChoice, SaysWhichColumnsThereAre) {
  ExpectInputError(ChooseColumns(Named({"a", "b", "time"}), {}, "'f'"),
                   "'f': cannot tell which column is the source; give `--src` a name or "
                   "a number from 1; the columns are: a, b, time");
  ExpectInputError(ChooseColumns(Unnamed(4), {}, "'f'"),
                   "'f': cannot tell which column is the time; give `--time` a name or "
                   "a number from 1, or `row` to number the rows; the columns are: 1 to "
                   "4, without names");
  EdgeListOptions options;
  options.src = "from_id";
  ExpectInputError(ChooseColumns(Named({"src", "dst", "time"}), options, "'f'"),
                   "'f': there is no column 'from_id' for `--src`; the columns are: src, "
                   "dst, time");
  options.src = "dst";
  ExpectInputErrorWith(ChooseColumns(Named({"src", "dst", "time"}), options, "'f'"),
                       "`--dst` is a column that is in use already: 2");
}

TEST(ColumnChoice, DescribesNeighboursThatFareAlikeTogether) {
  TextFormat format{',', true, {"user", "item", "time", "label", "features"}, 9};
  ColumnChoice choice;
  choice.src = 0;
  choice.dst = 1;
  choice.time = 2;
  choice.label = 3;
  const auto columns = DescribeColumns(format, choice, "'f'");
  ASSERT_EQ(columns.size(), 5);
  EXPECT_EQ(columns[3].becomes, "label");
  EXPECT_EQ(columns[4].number, "5-9");
  EXPECT_EQ(columns[4].becomes, "");
}

}  // namespace
}  // namespace coden::importing
