#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coden/base/ini_text.h"

namespace coden {

/// Say in one line what a score is of, from the settings of its run: model, inputs,
/// protocol, seeds and split. Empty where the settings do not say.
std::string TrainingFacts(const std::vector<IniSection>& settings);

/// Say which test nodes the scores of a run are over: equal texts, equal nodes of equal
/// labels.
std::string SplitFacts(const std::vector<IniSection>& settings);

}  // namespace coden
