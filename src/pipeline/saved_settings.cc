#include "pipeline/saved_settings_internal.h"

#include "coden/report/printable.h"
#include "coden/store/run_layout.h"
#include "coden/store/sealed_text.h"

namespace coden {

arrow::Status SaveSettings(RunStore& store, const Settings& settings) {
  return store.WriteText(RunLayout::kSettings, SealIni(MaskCredentials(ToIni(settings))));
}

arrow::Result<std::optional<std::string>> LoadSavedSettings(const RunStore& store) {
  ARROW_ASSIGN_OR_RAISE(const auto size, store.Size(RunLayout::kSettings));
  if (!size) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const std::string sealed, store.ReadText(RunLayout::kSettings));
  ARROW_ASSIGN_OR_RAISE(std::string text,
                        UnsealIni(sealed, store.Show(RunLayout::kSettings)));
  return text;
}

}  // namespace coden
