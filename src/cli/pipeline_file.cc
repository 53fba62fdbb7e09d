#include "cli/pipeline_file_internal.h"

#include <cstdlib>
#include <fstream>
#include <vector>

#include "base/nearest_internal.h"
#include "coden/base/error.h"
#include "coden/base/ini_text.h"

namespace coden {

namespace {

arrow::Result<std::string> ExpandVariables(const std::string& value) {
  std::string expanded;
  std::size_t begin = 0;
  while (true) {
    const std::size_t open = value.find("${", begin);
    expanded += value.substr(begin, open - begin);
    if (open == std::string::npos) return expanded;
    const std::size_t close = value.find('}', open);
    if (close == std::string::npos) {
      return UsageError("`${` must end with `}`: '", value, "'");
    }
    const std::string name = value.substr(open + 2, close - open - 2);
    const char* variable = std::getenv(name.c_str());
    if (variable == nullptr) {
      return UsageError("the environment variable ", name,
                        " is not set, and the value needs it: '", value, "'");
    }
    expanded += variable;
    begin = close + 1;
  }
}

arrow::Status CheckSection(const IniSection& section) {
  std::vector<std::string_view> known;
  for (const Setting& setting : AllSettings()) {
    if (setting.section() == section.name) return arrow::Status::OK();
    known.push_back(setting.section());
  }
  return UsageError("unknown section `[", section.name, "]`; the nearest is `[",
                    Nearest(section.name, known), "]`");
}

arrow::Status Apply(const IniSection& section, const IniSetting& setting,
                    Settings* settings) {
  if (section.name.empty()) {
    std::vector<std::string_view> keys;
    for (const Setting& known : AllSettings()) keys.push_back(known.key);
    return UsageError(
        "`", setting.name, "` is above the first section; put it below its own, as in `[",
        FindSetting(Nearest(setting.name, keys)).ValueOrDie()->section(), "]`");
  }
  const std::string key = section.name + "." + setting.name;
  if (setting.literal) return Set(*settings, key, setting.text);
  ARROW_ASSIGN_OR_RAISE(const std::string expanded, ExpandVariables(setting.text));
  return Set(*settings, key, expanded);
}

arrow::Result<std::string> ReadWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return UsageError("cannot open the pipeline file '", path, "'");
  std::string text;
  char bytes[4096];
  while (file.read(bytes, sizeof(bytes)) || file.gcount() > 0) {
    text.append(bytes, static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return UsageError("cannot read the pipeline file '", path, "'");
  return text;
}

}  // namespace

arrow::Status ReadPipelineFile(const std::string& path, Settings* settings,
                               SettingPlaces* places) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, ReadWholeFile(path));
  ARROW_ASSIGN_OR_RAISE(const auto sections, ParseIni(text, path));
  for (const IniSection& section : sections) {
    if (!section.name.empty()) {
      ARROW_RETURN_NOT_OK(
          WithFault(CheckSection(section), Fault::kUsage, IniPlace(path, section.line)));
    }
    for (const IniSetting& setting : section.settings) {
      ARROW_RETURN_NOT_OK(WithFault(Apply(section, setting, settings), Fault::kUsage,
                                    IniPlace(path, setting.line)));
    }
  }
  // Only now: the errors above have their place already.
  for (const IniSection& section : sections) {
    for (const IniSetting& setting : section.settings)
      places->insert_or_assign(section.name + "." + setting.name,
                               IniPlace(path, setting.line));
  }
  return arrow::Status::OK();
}

arrow::Status WithPlaceOfSetting(const arrow::Status& status,
                                 const SettingPlaces& places) {
  if (FaultOf(status) != Fault::kUsage) return status;
  // Messages have settings between backticks: `a.b` or `a.b = value`.
  const std::string& message = status.message();
  for (std::size_t at = message.find('`'); at != message.npos;) {
    const std::size_t end = message.find('`', at + 1);
    if (end == message.npos) break;
    const std::string_view quoted =
        std::string_view(message).substr(at + 1, end - at - 1);
    const auto place = places.find(quoted.substr(0, quoted.find(' ')));
    if (place != places.end()) return status.WithMessage(place->second, message);
    at = message.find('`', end + 1);
  }
  return status;
}

}  // namespace coden
