#include <algorithm>
#include <cctype>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/nearest_internal.h"

namespace coden {

namespace {

// A shorter word is in too many names to point at one.
constexpr std::size_t kShortestPart = 3;

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

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return lower;
}

std::string_view LastPart(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

// How far a candidate is from a word, most important first.
std::tuple<int, std::size_t, std::size_t> Distance(std::string_view word,
                                                   std::string_view candidate) {
  const std::string_view last = LastPart(candidate);
  const std::string_view wanted = LastPart(word);
  const bool part = wanted.size() >= kShortestPart && last.find(wanted) != last.npos;
  const std::size_t whole = EditDistance(word, candidate);
  const bool has_section = wanted.size() < word.size();
  return {last == wanted ? 0
          : part         ? 1
                         : 2,
          has_section ? whole : EditDistance(word, last), whole};
}

}  // namespace

std::string_view Nearest(std::string_view word,
                         std::span<const std::string_view> candidates) {
  const std::string lower = Lower(word);
  return *std::min_element(candidates.begin(), candidates.end(),
                           [&](std::string_view a, std::string_view b) {
                             return Distance(lower, Lower(a)) < Distance(lower, Lower(b));
                           });
}

}  // namespace coden
