#include "pipeline/saved_settings_internal.h"

#include <algorithm>
#include <utility>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/store/run_layout.h"
#include "coden/store/sealed_text.h"

namespace coden {

namespace {

arrow::Result<std::vector<IniSection>> ParseSealed(const std::string& sealed,
                                                   const std::string& shown) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, UnsealIni(sealed, shown));
  auto sections = ParseIni(text, shown);
  if (!sections.ok()) return CorruptionError(sections.status().message());
  return sections;
}

void Replace(std::string_view section, std::string_view name, std::string text,
             std::vector<IniSection>* sections) {
  const auto find = [](auto& all, std::string_view wanted) {
    return std::find_if(all.begin(), all.end(),
                        [&](const auto& one) { return one.name == wanted; });
  };
  auto place = find(*sections, section);
  if (place == sections->end()) {
    sections->push_back({.name = std::string(section), .settings = {}});
    place = std::prev(sections->end());
  }
  const auto setting = find(place->settings, name);
  if (setting == place->settings.end()) {
    place->settings.push_back({.name = std::string(name), .text = std::move(text)});
  } else {
    setting->text = std::move(text);
  }
}

}  // namespace

std::vector<IniSection> ShownSettings(const Settings& settings) {
  std::vector<IniSection> sections = SettingSections(settings);
  for (IniSection& section : sections) {
    for (IniSetting& setting : section.settings)
      setting.text = MaskCredentials(setting.text);
  }
  return sections;
}

arrow::Status SaveSettings(RunStore& store, const Settings& settings) {
  return store.WriteText(RunLayout::kSettings,
                         SealIni(WriteIni(ShownSettings(settings))));
}

arrow::Result<std::optional<std::vector<IniSection>>> LoadSavedSettings(
    const RunStore& store) {
  ARROW_ASSIGN_OR_RAISE(const auto size, store.Size(RunLayout::kSettings));
  if (!size) return std::nullopt;
  const std::string shown = store.Show(RunLayout::kSettings);
  ARROW_ASSIGN_OR_RAISE(const std::string sealed, store.ReadText(RunLayout::kSettings));
  ARROW_ASSIGN_OR_RAISE(auto sections, ParseSealed(sealed, shown));
  return sections;
}

arrow::Result<std::vector<IniSection>> SettingsOfRun(const RunStore& store,
                                                     const Manifest& manifest,
                                                     std::vector<IniSection> otherwise) {
  ARROW_ASSIGN_OR_RAISE(auto saved, LoadSavedSettings(store));
  std::vector<IniSection> settings = saved ? *std::move(saved) : std::move(otherwise);
  const PartRecord* trained = manifest.Find(kTrainPart);
  if (trained == nullptr) return settings;
  for (auto& [key, value] : ReadSettingLines(trained->parameters)) {
    const std::size_t dot = key.find('.');
    if (dot == std::string::npos) continue;
    Replace(key.substr(0, dot), key.substr(dot + 1), MaskCredentials(value), &settings);
  }
  // Paths change no result, so the parameters leave them out.
  if (const FileRecord* file = trained->FindFile(RunLayout::kModelSettings)) {
    ARROW_ASSIGN_OR_RAISE(const std::string sealed, store.ReadText(*file));
    ARROW_ASSIGN_OR_RAISE(const auto all, ParseSealed(sealed, store.Show(file->path)));
    for (const std::string_view name : {"labels", "split"})
      Replace("input", name, std::string(FindIniSetting(all, "input", name)), &settings);
  }
  return settings;
}

}  // namespace coden
