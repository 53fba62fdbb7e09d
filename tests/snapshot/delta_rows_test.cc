#include "snapshot/delta_rows_internal.h"

#include <random>

#include <gtest/gtest.h>

namespace coden {
namespace {

constexpr int kWidth = 2;

NodeRows RowsOf(const std::vector<NodeId>& nodes, const std::vector<float>& numbers) {
  return {nodes,
          std::make_shared<arrow::FloatArray>(static_cast<std::int64_t>(numbers.size()),
                                              arrow::Buffer::FromVector(numbers))};
}

// Close a snapshot whose rows have both numbers equal to `values`.
DeltaRows::Choice Choose(DeltaRows& delta, int snapshot, const std::vector<NodeId>& nodes,
                         const std::vector<float>& values) {
  std::vector<float> numbers;
  for (const float value : values) numbers.insert(numbers.end(), kWidth, value);
  delta.Add(RowsOf(nodes, numbers));
  return delta.Close(snapshot);
}

using Written = std::vector<bool>;

TEST(DeltaRows, TheFirstSnapshotIsFull) {
  DeltaRows delta(0.0, 16, kWidth);
  const auto choice = Choose(delta, 0, {1, 2}, {5, 6});
  EXPECT_EQ(choice.base, 0);
  EXPECT_EQ(choice.written, (Written{true, true}));
  EXPECT_EQ(choice.missed, (std::vector<double>{0, 0}));
}

TEST(DeltaRows, RowsAreComparedWithTheLastFullSnapshotNotWithTheLast) {
  DeltaRows delta(0.0, 16, kWidth);
  Choose(delta, 0, {1, 2, 3, 4}, {1, 2, 3, 4});
  EXPECT_EQ(Choose(delta, 1, {1, 2, 3, 4}, {1, 9, 3, 4}).written,
            (Written{false, true, false, false}));
  EXPECT_EQ(Choose(delta, 2, {1, 2, 3, 4}, {1, 9, 3, 4}).written,
            (Written{false, true, false, false}));
  EXPECT_EQ(Choose(delta, 3, {1, 2, 3, 4}, {1, 2, 3, 4}).written,
            (Written{false, false, false, false}));
}

TEST(DeltaRows, NewNodesMayComeBetweenOldOnes) {
  DeltaRows delta(0.0, 16, kWidth);
  Choose(delta, 0, {1, 5, 9, 12}, {1, 5, 9, 12});
  const auto choice = Choose(delta, 1, {0, 1, 5, 7, 9, 12, 20}, {0, 1, 5, 7, 9, 12, 20});
  EXPECT_EQ(choice.base, 0);
  EXPECT_EQ(choice.written, (Written{true, false, false, true, false, false, true}));
}

TEST(DeltaRows, MoreThanHalfIsWrittenInFull) {
  DeltaRows delta(0.0, 16, kWidth);
  Choose(delta, 0, {1, 2, 3, 4}, {1, 2, 3, 4});
  EXPECT_EQ(Choose(delta, 1, {1, 2, 3, 4}, {9, 9, 3, 4}).base, 0);
  const auto full = Choose(delta, 2, {1, 2, 3, 4}, {9, 9, 9, 4});
  EXPECT_EQ(full.base, 2);
  EXPECT_EQ(full.written, (Written{true, true, true, true}));
  // It is what the next ones lie over.
  const auto next = Choose(delta, 3, {1, 2, 3, 4}, {9, 9, 9, 5});
  EXPECT_EQ(next.base, 2);
  EXPECT_EQ(next.written, (Written{false, false, false, true}));
}

TEST(DeltaRows, EverySoManySnapshotsOneIsFull) {
  for (const int every : {1, 2, 3}) {
    SCOPED_TRACE(every);
    DeltaRows delta(0.0, every, kWidth);
    for (int snapshot = 0; snapshot < 7; ++snapshot)
      EXPECT_EQ(Choose(delta, snapshot, {1, 2}, {1, 2}).base, snapshot / every * every);
  }
}

TEST(DeltaRows, WhatIsLeftOutIsAddedUpByColumn) {
  DeltaRows delta(0.5, 16, kWidth);
  delta.Add(RowsOf({1, 2, 3}, {0, 0, 0, 0, 0, 0}));
  delta.Close(0);
  delta.Add(RowsOf({1, 2, 3}, {0.5f, -0.25f, 0.125f, 0, 0, 0.75f}));
  const auto choice = delta.Close(1);
  EXPECT_EQ(choice.written, (Written{false, false, true}));
  EXPECT_EQ(choice.missed, (std::vector<double>{0.625, 0.25}));
}

TEST(DeltaRows, ANodeThatHasGoneMakesTheSnapshotFull) {
  DeltaRows delta(0.0, 16, kWidth);
  Choose(delta, 0, {1, 2, 3}, {1, 2, 3});
  EXPECT_EQ(Choose(delta, 1, {1, 3}, {1, 3}).base, 1);
  EXPECT_EQ(Choose(delta, 2, {1}, {1}).base, 2);
}

TEST(DeltaRows, ASnapshotWithoutRowsRestsOnOneWithout) {
  DeltaRows delta(0.0, 16, kWidth);
  EXPECT_EQ(delta.Close(0).base, 0);
  EXPECT_EQ(delta.Close(1).base, 0);
  EXPECT_EQ(Choose(delta, 2, {4}, {4}).base, 2);
}

// Random snapshots that grow, in one piece and in pieces, from the start and from a base
// that is handed in: always the same choices.
TEST(DeltaRows, ChoicesDependOnTheNumbersAlone) {
  std::mt19937 random(3);
  std::vector<std::vector<NodeId>> nodes;
  std::vector<std::vector<float>> numbers;
  std::vector<float> value(40, 0.0f);
  for (int snapshot = 0; snapshot < 30; ++snapshot) {
    auto& ids = nodes.emplace_back();
    auto& rows = numbers.emplace_back();
    for (NodeId node = 0; node < 40; ++node) {
      if (random() % 8 == 0) value[node] += 0.25f * static_cast<float>(random() % 3);
      // Nodes arrive from both ends.
      if (std::min(node, 39 - node) > 3 + snapshot / 2) continue;
      ids.push_back(node);
      rows.insert(rows.end(), {value[node], -value[node]});
    }
  }
  const auto choices = [&](bool in_pieces, int first, int base) {
    DeltaRows delta(0.3, 7, kWidth);
    if (first > 0) delta.SetBase(base, RowsOf(nodes[base], numbers[base]));
    std::vector<DeltaRows::Choice> chosen;
    for (int snapshot = first; snapshot < 30; ++snapshot) {
      for (std::size_t begin = 0; begin < nodes[snapshot].size();) {
        const std::size_t left = nodes[snapshot].size() - begin;
        const std::size_t count =
            in_pieces ? std::min<std::size_t>(left, random() % 9) : left;
        const auto id = nodes[snapshot].begin() + static_cast<std::ptrdiff_t>(begin);
        const auto row =
            numbers[snapshot].begin() + static_cast<std::ptrdiff_t>(begin * 2);
        delta.Add(RowsOf({id, id + static_cast<std::ptrdiff_t>(count)},
                         {row, row + static_cast<std::ptrdiff_t>(count * 2)}));
        begin += count;
      }
      chosen.push_back(delta.Close(snapshot));
    }
    return chosen;
  };
  const auto whole = choices(/*in_pieces=*/false, 0, 0);
  int num_full = 0;
  for (int snapshot = 0; snapshot < 30; ++snapshot)
    num_full += whole[snapshot].base == snapshot;
  EXPECT_GT(num_full, 4);
  EXPECT_LT(num_full, 20);
  for (int first = 0; first < 30; ++first) {
    SCOPED_TRACE(first);
    const auto other =
        choices(/*in_pieces=*/true, first, whole[std::max(0, first - 1)].base);
    for (int snapshot = first; snapshot < 30; ++snapshot) {
      EXPECT_EQ(other[snapshot - first].base, whole[snapshot].base);
      EXPECT_EQ(other[snapshot - first].written, whole[snapshot].written);
      EXPECT_EQ(other[snapshot - first].missed, whole[snapshot].missed);
    }
  }
}

}  // namespace
}  // namespace coden
