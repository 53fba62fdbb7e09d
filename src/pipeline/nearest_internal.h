#pragma once

#include <span>
#include <string_view>

namespace coden {

/// Return the candidate that takes the fewest single-letter edits to become `word` (the
/// Levenshtein distance); the first one on a tie. `candidates` must not be empty.
std::string_view Nearest(std::string_view word,
                         std::span<const std::string_view> candidates);

}  // namespace coden
