#include "coden/graph/edge_change.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace coden {

namespace {

constexpr std::size_t kRadixFrom = 1 << 12;
constexpr int kDigitBits = 8;
constexpr int kDigits = 64 / kDigitBits;
constexpr std::size_t kBuckets = std::size_t{1} << kDigitBits;

// Sort from the last digit to the first, leaving out digits that all changes share: of
// millions of changes a few passes in the order of memory, where a comparison sort takes
// twenty branches a change.
void RadixSort(std::vector<EdgeChange>& changes) {
  std::vector<std::array<std::size_t, kBuckets>> counts(kDigits);
  const auto digit_of = [](EdgeChange change, int digit) {
    return static_cast<std::size_t>(change.bits() >> (digit * kDigitBits)) &
           (kBuckets - 1);
  };
  for (const EdgeChange change : changes) {
    for (int digit = 0; digit < kDigits; ++digit)
      ++counts[digit][digit_of(change, digit)];
  }
  std::vector<EdgeChange> sorted(changes.size());
  for (int digit = 0; digit < kDigits; ++digit) {
    auto& starts = counts[digit];
    if (starts[digit_of(changes.front(), digit)] == changes.size()) continue;
    std::size_t next = 0;
    for (std::size_t& start : starts) next += std::exchange(start, next);
    for (const EdgeChange change : changes)
      sorted[starts[digit_of(change, digit)]++] = change;
    changes.swap(sorted);
  }
}

}  // namespace

std::vector<EdgeChange> NetChanges::Take() {
  DropCancelled();
  compact_at_ = kFirstCompaction;
  any_absent_ = false;
  return std::exchange(changes_, {});
}

std::int64_t NetChanges::GrowthBytes(std::int64_t held, std::int64_t more) {
  const auto capacity = [](std::int64_t changes) {
    return std::bit_ceil(static_cast<std::uint64_t>(changes + 1));
  };
  const std::uint64_t next = capacity(held + more);
  return next == capacity(held) ? 0
                                : static_cast<std::int64_t>(next * sizeof(EdgeChange));
}

void NetChanges::Compact() {
  if (any_absent_) DropCancelled();
  compact_at_ = std::max(kFirstCompaction, 2 * changes_.size());
}

// Sort, and leave of each edge what an odd number of changes amounts to. They alternate,
// so there is one more of the kind of the last one.
void NetChanges::DropCancelled() {
  if (changes_.size() < kRadixFrom) {
    std::sort(changes_.begin(), changes_.end());
  } else {
    RadixSort(changes_);
  }
  if (!any_absent_) return;
  auto kept = changes_.begin();
  for (auto first = changes_.begin(); first != changes_.end();) {
    auto last = first;
    std::ptrdiff_t present = 0;
    for (; last != changes_.end() && last->SameEdge(*first); ++last)
      present += last->present() ? 1 : -1;
    // Absent sorts before present.
    if (present != 0) *kept++ = present > 0 ? *(last - 1) : *first;
    first = last;
  }
  changes_.erase(kept, changes_.end());
}

}  // namespace coden
