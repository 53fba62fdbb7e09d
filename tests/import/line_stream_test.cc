#include "import/line_stream_internal.h"

#include <gtest/gtest.h>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>

#include "support/status.h"

namespace coden::importing {
namespace {

// All that comes out, read in pieces of `num_bytes`; the first `head` bytes of the text
// were read before.
arrow::Result<std::string> Tidy(const std::string& text, const TextFormat& format,
                                RowProblems* problems, std::size_t head = 0,
                                std::int64_t num_bytes = 3) {
  const auto rest = std::make_shared<arrow::io::BufferReader>(
      arrow::Buffer::FromString(text.substr(head)));
  LineStream stream(text.substr(0, head), rest, format, "#%", problems);
  std::string out;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto buffer, stream.Read(num_bytes));
    if (buffer->size() == 0) return out;
    out += buffer->ToString();
  }
}

const TextFormat kComma = {',', false, {}, 3};

TEST(LineStream, NumbersLinesAndLeavesOutWhatIsNoRow) {
  RowProblems problems("'f'", OnRowError::kStop);
  const std::string text = "\n# a\nsrc,dst,time\n1,2,3\r\n% b\n\"x,y\",5,6\n\n\n";
  const std::string tidy = "4,1,2,3\n6,\"x,y\",5,6\n";
  const TextFormat header = {',', true, {"src", "dst", "time"}, 3};
  for (std::size_t head = 0; head <= text.size(); head += 7) {
    EXPECT_EQ(Tidy(text, header, &problems, head).ValueOrDie(), tidy) << head;
  }
  EXPECT_EQ(Tidy("1,2,3", kComma, &problems).ValueOrDie(), "1,1,2,3\n");
}

TEST(LineStream, MakesTabsOfBlanks) {
  RowProblems problems("'f'", OnRowError::kStop);
  EXPECT_EQ(
      Tidy("  1  2 \t3 \n4 5\t6\n", {kBlanks, false, {}, 3}, &problems).ValueOrDie(),
      "1\t1\t2\t3\n2\t4\t5\t6\n");
}

TEST(LineStream, RefusesOrCountsBrokenLines) {
  RowProblems stop("'f'", OnRowError::kStop);
  ExpectInputErrorWith(Tidy("1,2,3\n\n\n4,5,6\n", kComma, &stop),
                       "'f', line 2: a line between rows must not be empty");
  ExpectInputErrorWith(Tidy("1,2,3\n\"a\nb\",5,6\n", kComma, &stop),
                       "'f', line 2: a quoted value must end in its line");
  ExpectInputErrorWith(Tidy("1,2,3\n4,5,6\r7,8,9,10\n", kComma, &stop),
                       "'f', line 2: a carriage return must not stand inside a line");
  RowProblems skip("'f'", OnRowError::kSkip);
  EXPECT_EQ(Tidy("1,2,3\n\n\n4,5,6\n\"a\nb\",5,6\n", kComma, &skip).ValueOrDie(),
            "1,1,2,3\n4,4,5,6\n");
  const auto dropped = skip.dropped();
  ASSERT_EQ(dropped.size(), 2);
  EXPECT_EQ(dropped[0].reason, "empty line");
  EXPECT_EQ(dropped[0].rows, 2);
  EXPECT_EQ(dropped[0].first_line, 2);
  EXPECT_EQ(dropped[1].rows, 2);
  EXPECT_EQ(dropped[1].first_line, 5);
}

TEST(LineStream, RefusesLinesWithoutEnd) {
  RowProblems problems("'f'", OnRowError::kSkip);
  ExpectInputErrorWith(
      Tidy("1,2,3\n" + std::string(kLongestLine + 1, 'x'), kComma, &problems, 0, 1 << 20),
      "line 2: a line must be shorter than 1 MB");
}

}  // namespace
}  // namespace coden::importing
