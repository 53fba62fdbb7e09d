#include "coden/report/inspect.h"

#include <array>
#include <filesystem>
#include <fstream>

#include "coden/base/error.h"
#include "coden/settings/settings.h"
#include "coden/store/run_layout.h"
#include "coden/store/run_store.h"
#include "report/inspect_internal.h"

namespace coden {

namespace {

namespace fs = std::filesystem;

// How far above a file its run directory can be:
// snapshots/snapshot=000012/part-0.parquet.
constexpr int kRunDepth = 3;

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool IsFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool IsInsideRun(const fs::path& path) {
  std::error_code ignored;
  fs::path folder = fs::absolute(path, ignored).parent_path();
  for (int level = 0; level < kRunDepth; ++level) {
    if (IsFolder(folder / RunLayout::kCommits)) return true;
    folder = folder.parent_path();
  }
  return false;
}

// Whether a URI leads to a run.
arrow::Result<bool> IsRemoteRun(const std::string& path) {
  if (path.find("://") == std::string::npos || path.find('*') != std::string::npos)
    return false;
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(path));
  const auto names = store->List(RunLayout::kCommits);
  return names.ok() && !names->empty();
}

bool LooksLikeParquet(const fs::path& path) {
  std::array<char, 4> magic{};
  std::ifstream(path, std::ios::binary).read(magic.data(), magic.size());
  const std::string_view text(magic.data(), magic.size());
  return text == "PAR1" || text == "PARE";
}

bool HoldsParquet(const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto extension = entry->path().extension();
    if (extension == ".parquet" || extension == ".parq") return true;
  }
  return false;
}

}  // namespace

arrow::Result<Tables> Inspect(const std::string& path) {
  const bool is_local = path.find("://") == std::string::npos && Exists(path);
  if (!is_local) {
    // A URI, a glob, or nothing.
    ARROW_ASSIGN_OR_RAISE(const bool is_run, IsRemoteRun(path));
    return is_run ? InspectRun(path) : InspectParquet(path);
  }
  const fs::path local(path);
  if (IsFolder(local)) {
    if (IsFolder(local / RunLayout::kCommits)) return InspectRun(path);
    if (Exists(local / fs::path(RunLayout::kModelWeights).filename()) ||
        Exists(local / fs::path(RunLayout::kModelConfig).filename())) {
      return InspectModel(path);
    }
  }
  if (local.extension() == ".safetensors") return InspectSafetensors(path);
  const bool in_run = IsInsideRun(local);
  if (!in_run && !(IsFolder(local) ? HoldsParquet(local) : LooksLikeParquet(local))) {
    return InputError(
        "there is nothing to inspect; give a Parquet file or a folder of them, a run "
        "directory or a model folder: '",
        path, "'");
  }
  auto tables = InspectParquet(path);
  if (!tables.ok() && in_run && FaultOf(tables.status()) == Fault::kInput) {
    return CorruptionError(tables.status().message());
  }
  return tables;
}

FactsTable::FactsTable(std::string key, std::string title) {
  table_.key = std::move(key);
  table_.title = std::move(title);
  table_.is_record = true;
  table_.rows.resize(1);
}

void FactsTable::Add(std::string key, std::string property, Cell value, ColumnType type) {
  table_.columns.push_back({std::move(key), std::move(property), type});
  table_.rows.front().push_back(std::move(value));
}

ResultsTable SettingsTable(std::string_view text) {
  ResultsTable table;
  table.key = "settings";
  table.title = "Settings other than the defaults";
  table.columns = {{"setting", "setting"}, {"value", "value"}};
  for (const auto& [key, value] : ReadSettingLines(text)) {
    const auto setting = FindSetting(key);
    if (setting.ok() && (*setting)->default_text == value) continue;
    table.rows.push_back({key, value});
  }
  return table;
}

}  // namespace coden
