#include "report/ini_sections_internal.h"

#include <algorithm>

namespace coden {

namespace {

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::vector<IniSection> IniSections(std::string_view ini) {
  std::vector<IniSection> sections;
  while (!ini.empty()) {
    const std::size_t end = std::min(ini.find('\n'), ini.size());
    const std::string_view line = Trimmed(ini.substr(0, end));
    ini.remove_prefix(std::min(end + 1, ini.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      sections.push_back({std::string(line.substr(1, line.size() - 2)), {}});
      continue;
    }
    if (sections.empty()) sections.emplace_back();
    const std::size_t equals = std::min(line.find('='), line.size());
    sections.back().settings.push_back(
        {std::string(Trimmed(line.substr(0, equals))),
         std::string(Trimmed(line.substr(std::min(equals + 1, line.size()))))});
  }
  return sections;
}

std::string_view FindIniSetting(const std::vector<IniSection>& sections,
                                std::string_view section, std::string_view name) {
  for (const auto& candidate : sections) {
    if (candidate.name != section) continue;
    for (const auto& setting : candidate.settings) {
      if (setting.name == name) return setting.text;
    }
  }
  return {};
}

}  // namespace coden
