#include "pipeline/saved_settings_internal.h"

#include "coden/pipeline/error.h"
#include "coden/report/printable.h"
#include "coden/store/run_layout.h"
#include "coden/store/sealed_text.h"

namespace coden {

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
  ARROW_ASSIGN_OR_RAISE(const std::string text, UnsealIni(sealed, shown));
  auto sections = ParseIni(text, shown);
  if (!sections.ok()) return CorruptionError(sections.status().message());
  return *std::move(sections);
}

}  // namespace coden
