#pragma once

#include <string_view>

namespace coden {

/// The style sheet of the report: light and dark, screen, phone and paper.
std::string_view ReportStyle();

}  // namespace coden
