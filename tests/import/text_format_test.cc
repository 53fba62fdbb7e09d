#include "import/text_format_internal.h"

#include <gtest/gtest.h>

namespace coden::importing {
namespace {

TextFormat Find(std::string_view text, char delimiter = '\0',
                HeaderRow header = HeaderRow::kAuto) {
  const auto lines = RowLines(text, /*whole=*/true, "#%");
  return FindFormat(lines, delimiter, header);
}

TEST(TextFormat, FindsTheDelimiter) {
  EXPECT_EQ(Find("1,2,3\n4,5,6\n").delimiter, ',');
  EXPECT_EQ(Find("1\t2\t3\n").delimiter, '\t');
  EXPECT_EQ(Find("1;2;3,5\n4;5;6,5\n").delimiter, ';');
  EXPECT_EQ(Find("# SNAP\n1 2 3\n").delimiter, kBlanks);
  EXPECT_EQ(Find("1   2\t 3\n10 2 3\n").delimiter, kBlanks);
  // A date with a blank does not make blanks the delimiter.
  EXPECT_EQ(Find("a\tb\t2004-04-15 01:02:03\n").delimiter, '\t');
  EXPECT_EQ(Find("1,2,2004-04-15 01:02:03\n").delimiter, ',');
  // KONECT: blanks, and a tab before the time.
  EXPECT_EQ(Find("% bip\n1 2 1\t1082008561\n1 3 1\t1082008562\n").num_fields, 4);
  // One bad row among many.
  EXPECT_EQ(Find("1,2,3\n4\n5,6,7\n8,9,10\n").num_fields, 3);
}

TEST(TextFormat, FindsTheHeader) {
  EXPECT_TRUE(Find("a,b,c\n1,2,3\n").header);
  EXPECT_FALSE(Find("1,2,3\n4,5,6\n").header);
  EXPECT_FALSE(Find("ann,bob,3\nbob,eve,6\n").header);
  EXPECT_TRUE(Find("x,y,when\nann,bob,2004-04-15\n").header);
  EXPECT_TRUE(Find("src,dst,kind\nann,bob,likes\n").header);
  EXPECT_TRUE(Find("ann,bob,3\n", ',', HeaderRow::kYes).header);
  EXPECT_FALSE(Find("src,dst,time\n1,2,3\n", ',', HeaderRow::kNo).header);
  EXPECT_EQ(Find("\"src\",dst , time\n1,2,3\n").names,
            (std::vector<std::string>{"src", "dst", "time"}));
}

TEST(TextFormat, RowLinesLeaveOutCommentsAndACutLine) {
  EXPECT_EQ(RowLines("#c\n\n  % d\n1,2\r\n3,4", /*whole=*/false, "#%"),
            (std::vector<std::string_view>{"1,2"}));
  EXPECT_EQ(RowLines("#c\n1,2", /*whole=*/true, ""),
            (std::vector<std::string_view>{"#c", "1,2"}));
}

}  // namespace
}  // namespace coden::importing
