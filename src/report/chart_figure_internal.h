#pragma once

#include <string>
#include <string_view>

#include "coden/report/chart.h"
#include "report/markup_internal.h"

namespace coden {

/// Add a chart to a page: heading, caption, the numbers for the script that draws them
/// (web/), and the same numbers as a table.
void AddFigure(Markup& page, const Chart& chart);

/// Add several side by side where there is room.
void AddFigures(Markup& page, const std::vector<Chart>& charts);

/// The id of a chart as the page has it: letters, digits, `-` and `_` alone.
std::string FigureId(std::string_view id);

/// Write `json` so that it may stand inside a script element.
std::string ScriptJson(std::string json);

}  // namespace coden
