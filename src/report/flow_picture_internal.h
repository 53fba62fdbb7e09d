#pragma once

#include <span>
#include <string>

#include "coden/report/html_report.h"

namespace coden {

enum class FlowDirection { kAcross, kDown };

/// Draw the stages as boxes joined by arrows, each with what it took, what it gave and
/// how long that lasted. kAcross is for wide pages, kDown for phones.
std::string FlowPicture(std::span<const StageFigure> stages, FlowDirection direction);

}  // namespace coden
