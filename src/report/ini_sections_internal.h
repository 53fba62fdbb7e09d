#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coden/report/html_report.h"

namespace coden {

struct IniSection {
  std::string name;
  std::vector<NamedText> settings;
};

/// Split the text that ToIni writes into its sections.
std::vector<IniSection> IniSections(std::string_view ini);

/// Find the text of one setting; empty if it is not there.
std::string_view FindIniSetting(const std::vector<IniSection>& sections,
                                std::string_view section, std::string_view name);

}  // namespace coden
