#include "embed/sweep_kernels_internal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/random_internal.h"
#include "embed/column_block_internal.h"

namespace coden {
namespace {

constexpr int kWidth = 4;

// A plan for rows without arcs: every visit moves a row from 0 to its feature.
SweepPlan PlanWithoutArcs(std::int64_t num_rows) {
  const auto size = static_cast<std::size_t>(num_rows);
  SweepPlan plan;
  plan.starts.assign(size + 1, 0);
  plan.feature_factor.assign(size, 1.0);
  plan.sum_factor.assign(size, 0.0);
  plan.defect_weight.assign(size, 0.0f);
  plan.change_weight.assign(size, 1.0f);
  plan.sum_weight.assign(size, 0.0f);
  plan.core_end = num_rows;
  return plan;
}

template <typename T>
class SweepKernels : public ::testing::Test {
 protected:
  // A block of zeros, whose features are to be filled.
  static ColumnBlock Block(Row num_rows) {
    ColumnBlock block({0, 1, 2, 3}, sizeof(T) == sizeof(float) ? Precision::kFloat
                                                               : Precision::kDouble);
    block.Grow(num_rows);
    return block;
  }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SweepKernels, Types);

// A float sum of so many similar terms is off by more than a hundredth.
TYPED_TEST(SweepKernels, WhatASweepMovesIsSummedWithoutStagnation) {
  constexpr Row kRows = (1 << 21) + 17;
  const SweepPlan plan = PlanWithoutArcs(kRows);
  ColumnBlock block = TestFixture::Block(kRows);
  SplitMix64 random(1);
  std::array<double, kWidth> wanted = {};
  for (std::int64_t i = 0; i < std::int64_t{kRows} * kWidth; ++i) {
    block.x()[i] = 0.7f + static_cast<float>(random.Next() % 1000) * 1e-5f;
    wanted[i % kWidth] += static_cast<double>(block.x()[i]);
  }
  const std::array<TypeParam, kWidth> relaxation = {1, 1, 1, 1};
  std::array<double, kWidth> moved = {};
  Sweep<TypeParam, kWidth>(plan, 0, kRows, {block.x(), block.g<TypeParam>()},
                           relaxation.data(), moved.data());
  for (int lane = 0; lane < kWidth; ++lane)
    EXPECT_NEAR(moved[lane] / wanted[lane], 1.0, 1e-4) << lane;
}

// Whatever was in the array before.
TYPED_TEST(SweepKernels, WhatASweepMovesIsSetAndOfItsVisitsAlone) {
  constexpr Row kRows = 10'000;
  const SweepPlan plan = PlanWithoutArcs(kRows);
  const std::array<TypeParam, kWidth> relaxation = {1, 0, 1, 0};
  for (const auto& [begin, end] :
       {std::pair{0, 10'000}, {4096, 4097}, {100, 9000}, {7, 7}}) {
    ColumnBlock block = TestFixture::Block(kRows);
    std::fill_n(block.x(), kRows * kWidth, 1.0f);
    std::array<double, kWidth> moved;
    moved.fill(std::numeric_limits<double>::quiet_NaN());
    Sweep<TypeParam, kWidth>(plan, begin, end, {block.x(), block.g<TypeParam>()},
                             relaxation.data(), moved.data());
    for (int lane = 0; lane < kWidth; ++lane)
      EXPECT_EQ(moved[lane], lane % 2 == 0 ? end - begin : 0) << lane;
  }
}

}  // namespace
}  // namespace coden
