#pragma once

#include <string_view>

namespace coden {

/// The version of the tool; a test compares it with the build's.
inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace coden
