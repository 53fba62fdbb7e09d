#pragma once

#include <span>
#include <string>

#include "coden/report/html_report.h"

namespace coden {

enum class FlowDirection { kAcross, kDown };

/// Draw the stages as boxes joined by arrows, each with what it took, what it gave and
/// how long that lasted. kAcross is for wide pages, kDown for phones.
std::string FlowPicture(std::span<const StageFigure> stages, FlowDirection direction);

/// 0.42 s, 35.1 s, 3 min 12 s, 2 h 5 min; empty if negative or not finite.
std::string FormatSeconds(double seconds);

}  // namespace coden
