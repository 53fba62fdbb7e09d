#pragma once

#include <optional>
#include <string>

#include "coden/read/labels.h"

namespace coden {

/// What to say of labels that look like amounts: whole numbers with more than a hundred
/// different values, and more than one for every ten rows.
std::optional<std::string> AmountsWarning(const Labels& labels);

}  // namespace coden
