#include "coden/base/printable.h"

#include <limits>

#include <gtest/gtest.h>

namespace coden {
namespace {

using namespace std::string_view_literals;

TEST(Printable, LeavesOrdinaryTextAlone) {
  for (const auto text : {"plain"sv, "a\\b"sv, "Grüße, 節点 🙂"sv, ""sv}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("\x1b[31mred\a"), "\\x1b[31mred\\x07");
  EXPECT_EQ(Printable("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(Printable("nul\0l"sv), "nul\\x00l");
  EXPECT_EQ(Printable("\x7f"), "\\u{007f}");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\u{009b}");
  EXPECT_EQ(Printable("a\xe2\x80\xae"
                      "b"),
            "a\\u{202e}b");
}

TEST(Printable, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(Printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(Printable("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(Printable("cut \xe2\x82"), "cut \\xe2\\x82");
  EXPECT_EQ(Printable("\xe2\x82x", PrintableMode::kEncoded), "\\xe2\\x82x");
}

TEST(Printable, KeepsLineBreaksWhereTheFormatQuotesThem) {
  EXPECT_EQ(Printable("a\n\x1b", PrintableMode::kMultiLine), "a\n\\x1b");
  EXPECT_EQ(Printable("a\n\x1b", PrintableMode::kEncoded), "a\n\x1b");
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("± é"), 3);
  EXPECT_EQ(DisplayWidth("e\xcc\x81"), 1);
  EXPECT_EQ(DisplayWidth("節点"), 4);
}

TEST(MaskCredentials, HidesUserAndPassword) {
  EXPECT_EQ(MaskCredentials("s3://key:sec/ret@bucket/x y@z"), "s3://***@bucket/x y@z");
  EXPECT_EQ(MaskCredentials("s3://a:b@c,s3://d:e@f"), "s3://***@c,s3://***@f");
  EXPECT_EQ(MaskCredentials("s3://bucket/day@noon"), "s3://bucket/day@noon");
  EXPECT_EQ(MaskCredentials("plain@host"), "plain@host");
}

TEST(MaskCredentials, HidesSecretParameters) {
  EXPECT_EQ(MaskCredentials("at 's3://b/k?access_key=AK&scheme=http&secret_key=x/y' now"),
            "at 's3://b/k?access_key=***&scheme=http&secret_key=***' now");
  EXPECT_EQ(MaskCredentials("abfs://a:b@c/d?sas_token=e abfs://c/d?sig=f&g"),
            "abfs://***@c/d?sas_token=*** abfs://c/d?sig=***&g");
  EXPECT_EQ(MaskCredentials("s3://b/k?endpoint_override=http://h:1&secret_key=x"),
            "s3://b/k?endpoint_override=http://h:1&secret_key=***");
  EXPECT_EQ(MaskCredentials("what is key=1?"), "what is key=1?");
}

TEST(FormatNumbers, AreTheSameEverywhere) {
  EXPECT_EQ(FormatFixed(76.355, 1), "76.4");
  EXPECT_EQ(FormatFixed(-0.001, 2), "0.00");
  EXPECT_EQ(FormatFixed(1e300, 0).size(), 301u);
  EXPECT_EQ(FormatFixed(std::numeric_limits<double>::quiet_NaN(), 2), "");
  EXPECT_EQ(FormatShortest(0.1), "0.1");
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(-999), "-999");
  EXPECT_EQ(FormatCount(-1000), "-1,000");
  EXPECT_EQ(FormatCount(std::numeric_limits<std::int64_t>::min()),
            "-9,223,372,036,854,775,808");
}

TEST(Printable, SecondsReadWell) {
  EXPECT_EQ(FormatSeconds(0.423), "0.42 s");
  EXPECT_EQ(FormatSeconds(9.999), "10.0 s");
  EXPECT_EQ(FormatSeconds(192.0), "3 min 12 s");
  EXPECT_EQ(FormatSeconds(3599.9), "1 h 0 min");
  EXPECT_EQ(FormatSeconds(-1.0), "");
}

}  // namespace
}  // namespace coden
