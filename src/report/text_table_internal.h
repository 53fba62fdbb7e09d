#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coden/report/results_table.h"

namespace coden {

/// Write `table` in aligned columns; see Render.
std::string RenderTextTable(const ResultsTable& table);

/// Break printable text into lines of at most `width` columns, at spaces. A longer word
/// is cut if `cut_words`, and otherwise gets a line to itself. Never empty.
std::vector<std::string> WrapText(std::string_view text, int width, bool cut_words);

}  // namespace coden
