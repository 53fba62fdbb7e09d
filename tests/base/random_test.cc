#include "base/random_internal.h"

#include <cmath>

#include <gtest/gtest.h>

namespace coden {
namespace {

TEST(Random, GivesTheSameNumbersForEver) {
  Random random(/*seed=*/7, /*stream=*/1, /*row=*/2);
  EXPECT_EQ(random.Bits(), 0xbd4beebc4696320a);
  EXPECT_EQ(random.Uniform(), 0x1.e4159dd2efdbep-1);
  EXPECT_EQ(random.Normal(), 0x1.a767dc155938ep-2);
}

TEST(Random, DiffersBySeedStreamAndRow) {
  const std::uint64_t bits = Random(1, 2, 3).Bits();
  EXPECT_NE(bits, Random(2, 2, 3).Bits());
  EXPECT_NE(bits, Random(1, 3, 3).Bits());
  EXPECT_NE(bits, Random(1, 2, 4).Bits());
  EXPECT_NE(bits, Random(3, 2, 1).Bits());
}

TEST(Random, LogAgreesWithTheMathsLibrary) {
  for (double value = 1e-300; value < 1e300; value *= 1.37) {
    EXPECT_NEAR(Log(value), std::log(value), 4e-16 * std::abs(std::log(value)) + 1e-16)
        << value;
  }
}

// One generator per row, as the files are made, so that rows are checked for
// independence of each other as well.
TEST(Random, HasTheMomentsAndTailsOfItsDistributions) {
  constexpr int kRows = 400'000;
  double uniform = 0, below = 0, mean = 0, square = 0, fourth = 0, lag = 0, previous = 0;
  int tail = 0;
  for (int row = 0; row < kRows; ++row) {
    Random random(/*seed=*/0, /*stream=*/0, row);
    uniform += random.Uniform();
    below += static_cast<double>(random.Below(10));
    const double normal = random.Normal();
    mean += normal;
    square += normal * normal;
    fourth += normal * normal * normal * normal;
    lag += normal * previous;
    previous = normal;
    tail += std::abs(normal) > 3;
  }
  EXPECT_NEAR(uniform / kRows, 0.5, 0.002);
  EXPECT_NEAR(below / kRows, 4.5, 0.02);
  EXPECT_NEAR(mean / kRows, 0.0, 0.007);
  EXPECT_NEAR(square / kRows, 1.0, 0.01);
  EXPECT_NEAR(fourth / kRows, 3.0, 0.08);
  EXPECT_NEAR(lag / kRows, 0.0, 0.007);
  EXPECT_NEAR(tail / static_cast<double>(kRows), 0.0027, 0.0004);
}

}  // namespace
}  // namespace coden
