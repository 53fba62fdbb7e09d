#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "pipeline/nearest_internal.h"

namespace coden {

namespace {

std::size_t EditDistance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t substituted = diagonal + (from[i - 1] != to[j - 1]);
      diagonal =
          std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substituted}));
    }
  }
  return row.back();
}

}  // namespace

std::string_view Nearest(std::string_view word,
                         std::span<const std::string_view> candidates) {
  return *std::min_element(candidates.begin(), candidates.end(),
                           [word](std::string_view a, std::string_view b) {
                             return EditDistance(word, a) < EditDistance(word, b);
                           });
}

}  // namespace coden
