#include "import/field_values_internal.h"

#include <gtest/gtest.h>

#include <string>

namespace coden::importing {
namespace {

std::string Reason(const Broken& broken) {
  return broken ? std::string(broken->reason) : "";
}

TEST(FieldValues, TimesThatAreNumbers) {
  EventTime time = -1;
  const auto parse = [&](const char* text, std::optional<double> scale = {}) {
    return Reason(ParseTime(text, TimeKind::kNumber, scale, &time));
  };
  EXPECT_EQ(parse("1082008561"), "");
  EXPECT_EQ(time, 1082008561);
  EXPECT_EQ(parse("1082008561.0"), "");
  EXPECT_EQ(time, 1082008561);
  EXPECT_EQ(parse("1e3"), "");
  EXPECT_EQ(time, 1000);
  EXPECT_EQ(parse("9223372036854775807"), "");
  EXPECT_EQ(time, 9223372036854775807);
  EXPECT_EQ(parse("1.5"), "time has a fraction");
  EXPECT_EQ(parse("1.2345", 1000.0), "");
  EXPECT_EQ(time, 1235);
  EXPECT_EQ(parse("7", 1000.0), "");
  EXPECT_EQ(time, 7000);
  EXPECT_EQ(parse("-1"), "negative time");
  EXPECT_EQ(parse("1e19"), "time out of range");
  EXPECT_EQ(parse("inf"), "time out of range");
  EXPECT_EQ(parse("nan"), "time is not a number");
  EXPECT_EQ(parse("soon"), "time is not a number");
  EXPECT_EQ(parse(""), "missing value");
}

TEST(FieldValues, TimesThatAreDatesAreUtcMicroseconds) {
  EventTime time = -1;
  const auto parse = [&](const char* text) {
    return Reason(ParseTime(text, TimeKind::kDate, {}, &time));
  };
  EXPECT_EQ(parse("1970-01-02"), "");
  EXPECT_EQ(time, 86'400'000'000);
  EXPECT_EQ(parse("1970-01-01 00:00:01"), "");
  EXPECT_EQ(time, 1'000'000);
  EXPECT_EQ(parse("1970-01-01T02:00:00.25+01:00"), "");
  EXPECT_EQ(time, 3'600'250'000);
  EXPECT_EQ(parse("1969-12-31"), "negative time");
  EXPECT_EQ(parse("1970-02-30"), "time is not a date");
  EXPECT_EQ(parse("1"), "time is not a date");
}

TEST(FieldValues, IdsLabelsOpsAndFeatures) {
  std::int64_t number = 0;
  EXPECT_EQ(Reason(ParseId("-5", IdKind::kInteger, &number)), "");
  EXPECT_EQ(number, -5);
  EXPECT_EQ(Reason(ParseId("5.0", IdKind::kInteger, &number)),
            "id is not a whole number");
  EXPECT_EQ(Reason(ParseId("9223372036854775808", IdKind::kInteger, &number)),
            "id is not a whole number");
  EXPECT_EQ(Reason(ParseId("", IdKind::kString, &number)), "missing value");
  EXPECT_EQ(Reason(ParseId("\xff", IdKind::kString, &number)), "not UTF-8");
  EXPECT_EQ(Reason(ParseLabel("1.0", IdKind::kInteger, &number)), "");
  EXPECT_EQ(number, 1);
  EXPECT_EQ(Reason(ParseLabel("1.5", IdKind::kInteger, &number)),
            "label is not a whole number");
  std::int8_t op = 0;
  EXPECT_EQ(Reason(ParseOp("delete", &op)), "");
  EXPECT_EQ(op, -1);
  EXPECT_EQ(Reason(ParseOp("true", &op)), "");
  EXPECT_EQ(op, 1);
  EXPECT_EQ(Reason(ParseOp("0", &op)), "op is not known");
  float feature = 0;
  EXPECT_EQ(Reason(ParseFeature("-0.5", &feature)), "");
  EXPECT_EQ(feature, -0.5F);
  EXPECT_EQ(Reason(ParseFeature("nan", &feature)), "feature is not a finite number");
}

}  // namespace
}  // namespace coden::importing
