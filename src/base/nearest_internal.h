#pragma once

#include <span>
#include <string_view>

namespace coden {

/// Return the candidate that `word` most likely stands for: one with the same last part
/// (`epsilon` is `embed.epsilon`), or else one whose last part contains that of `word`
/// (`eps`), or else the one that the fewest single-letter edits turn into `word`. A word
/// without a section is compared with last parts. Capitals count as small letters. The
/// first one on a tie; `candidates` must not be empty.
std::string_view Nearest(std::string_view word,
                         std::span<const std::string_view> candidates);

}  // namespace coden
