#include "snapshot/half_precision_internal.h"

#include <cmath>
#include <limits>

#include "support/parquet.h"

namespace coden {
namespace {

TEST(HalfPrecision, RoundsToTheNearestAndAddsUpWhatIsLostByColumn) {
  // Between 1 and 2 the numbers of float16 are 2^-10 apart, and below 2^-14 they are
  // 2^-24.
  const float step = 0x1p-10f;
  const std::vector<float> numbers = {1 + step / 4, 0x1p-24f, 1 + step * 0.75f, 0x1p-26f};
  std::vector<float> out(4);
  std::vector<double> loss = {1.0, 0.0};
  EXPECT_EQ(RoundToHalf(numbers, loss, out.data()), 4);
  EXPECT_EQ(out, (std::vector<float>{1, 0x1p-24f, 1 + step, 0}));
  EXPECT_EQ(loss, (std::vector<double>{1.0 + step / 2, 0x1p-26}));
}

TEST(HalfPrecision, StopsAtTheFirstNumberItCannotHold) {
  std::vector<float> out(3);
  std::vector<double> loss(1);
  for (const float large : {65505.0f, -1e6f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<float> numbers = {65504.0f, -65504.0f, large};
    EXPECT_EQ(RoundToHalf(numbers, loss, out.data()), 2) << large;
  }
}

TEST(HalfPrecision, GivesTheSameNumbersAsFloat16) {
  const auto numbers = ArrayOf(arrow::float32(), "[9, 0.5, -65504, 0, 6.103515625e-05]");
  const auto slice = std::static_pointer_cast<arrow::FloatArray>(numbers->Slice(1));
  const auto halves = AsHalf(*slice).ValueOrDie();
  const std::uint16_t expected[] = {0x3800, 0xfbff, 0x0000, 0x0400};
  ASSERT_EQ(halves->length(), 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(halves->Value(i), expected[i]) << i;
}

}  // namespace
}  // namespace coden
