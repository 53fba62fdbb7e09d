// Nodes never leave a run and keep their order, so the base's nodes are a subsequence of
// those of every later snapshot: one walk over both finds for each row the one it was.
// Where that should not hold, rows of the base are left over at the end, and the snapshot
// is written in full, which is right for any rows.

#include "snapshot/delta_rows_internal.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace coden {

void DeltaRows::SetBase(int snapshot, NodeRows rows) {
  base_ = snapshot;
  base_rows_.clear();
  if (!rows.nodes.empty()) base_rows_.push_back(std::move(rows));
  Open();
}

void DeltaRows::Open() {
  cursor_ = {};
  open_rows_.clear();
  moved_.clear();
  num_moved_ = 0;
  missed_.assign(width_, 0.0);
}

bool DeltaRows::BaseIsLeft() const { return cursor_.chunk < base_rows_.size(); }

const float* DeltaRows::NextOfBase(NodeId node) {
  if (!BaseIsLeft()) return nullptr;
  const NodeRows& rows = base_rows_[cursor_.chunk];
  if (rows.nodes[cursor_.row] != node) return nullptr;
  const float* numbers = rows.numbers->raw_values() + cursor_.row * width_;
  if (++cursor_.row == rows.nodes.size()) cursor_ = {cursor_.chunk + 1, 0};
  return numbers;
}

void DeltaRows::Add(NodeRows rows) {
  if (rows.nodes.empty()) return;
  const float* now = rows.numbers->raw_values();
  for (const NodeId node : rows.nodes) {
    const float* before = NextOfBase(node);
    bool moved = before == nullptr;
    for (int column = 0; column < width_ && !moved; ++column)
      moved = std::abs(double{now[column]} - before[column]) > threshold_;
    // Without a threshold, rows that are left out are the same to the last bit.
    if (!moved && threshold_ > 0) {
      for (int column = 0; column < width_; ++column)
        missed_[column] += std::abs(double{now[column]} - before[column]);
    }
    moved_.push_back(moved);
    num_moved_ += moved;
    now += width_;
  }
  open_rows_.push_back(std::move(rows));
}

DeltaRows::Choice DeltaRows::Close(int snapshot) {
  const auto num_rows = static_cast<std::int64_t>(moved_.size());
  const bool full = !base_ || snapshot - *base_ >= full_every_ ||
                    2 * num_moved_ > num_rows || BaseIsLeft();
  Choice choice;
  if (full) {
    choice = {snapshot, std::vector<bool>(moved_.size(), true),
              std::vector<double>(width_, 0.0)};
    base_ = snapshot;
    base_rows_ = std::exchange(open_rows_, {});
  } else {
    choice = {*base_, std::move(moved_), std::move(missed_)};
  }
  Open();
  return choice;
}

}  // namespace coden
