#include "read/parquet_files_internal.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <compare>
#include <iterator>
#include <optional>
#include <unordered_map>

#include <arrow/filesystem/filesystem.h>
#include <arrow/filesystem/path_util.h>

#include "coden/base/error.h"
#include "read/lake_table_internal.h"

namespace coden {

namespace {

// Cut off the first part of a path, together with the slash that ends it.
std::string_view TakePart(std::string_view* path) {
  const std::size_t end = std::min(path->find('/'), path->size() - 1) + 1;
  const std::string_view part = path->substr(0, end);
  path->remove_prefix(end);
  return part;
}

// The number of a folder's part of a path such as "day=10/".
std::optional<std::int64_t> FolderNumber(std::string_view value) {
  if (!value.ends_with('/')) return std::nullopt;
  value.remove_suffix(1);
  std::int64_t number = 0;
  const auto [end, failed] =
      std::from_chars(value.data(), value.data() + value.size(), number);
  if (failed != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return number;
}

std::strong_ordering ComparePart(std::string_view a, std::string_view b) {
  const std::size_t key = a.find('=');
  if (key != std::string_view::npos && a.substr(0, key + 1) == b.substr(0, key + 1)) {
    const auto number_a = FolderNumber(a.substr(key + 1));
    const auto number_b = FolderNumber(b.substr(key + 1));
    if (number_a && number_b && *number_a != *number_b) return *number_a <=> *number_b;
    if (number_a.has_value() != number_b.has_value()) {
      return number_a ? std::strong_ordering::less : std::strong_ordering::greater;
    }
  }
  return a <=> b;
}

// What writers leave beside the data begins with a dot or an underscore (_SUCCESS,
// _temporary/, _delta_log/); a partition key may, too.
bool IsHidden(std::string_view part) {
  return part.starts_with('.') ||
         (part.starts_with('_') && part.find('=') == std::string_view::npos);
}

bool IsData(std::string_view name) {
  if (!name.ends_with(".parquet") && !name.ends_with(".parq")) return false;
  while (!name.empty()) {
    const std::string_view part = TakePart(&name);
    if (IsHidden(part)) return false;
  }
  return true;
}

std::int64_t Nanoseconds(arrow::fs::TimePoint time) {
  return time == arrow::fs::kNoTime ? 0 : time.time_since_epoch().count();
}

// Every file below `folder`, named relative to it.
arrow::Result<std::vector<ParquetSource::File>> ListFolder(
    arrow::fs::FileSystem& filesystem, const std::string& folder) {
  arrow::fs::FileSelector selector;
  selector.base_dir = folder;
  selector.recursive = true;
  ARROW_ASSIGN_OR_RAISE(const auto infos, filesystem.GetFileInfo(selector));
  std::vector<ParquetSource::File> files;
  for (const auto& info : infos) {
    if (!info.IsFile()) continue;
    std::string name = info.path().substr(folder.size());
    name.erase(0, name.find_first_not_of('/'));
    files.push_back(
        {std::move(name), info.path(), info.size(), Nanoseconds(info.mtime())});
  }
  return files;
}

// The files below `folder` that `is_chosen` takes; an error where they belong to a table.
template <typename IsChosen>
arrow::Result<std::vector<ParquetSource::File>> ChooseFrom(const Location& location,
                                                           const std::string& folder,
                                                           const std::string& shown,
                                                           const IsChosen& is_chosen) {
  ARROW_ASSIGN_OR_RAISE(const auto files, ListFolder(*location.filesystem, folder));
  std::vector<ParquetSource::File> chosen;
  std::copy_if(files.begin(), files.end(), std::back_inserter(chosen), is_chosen);
  ARROW_RETURN_NOT_OK(CheckNoTableInside(files, chosen, folder, shown));
  ARROW_RETURN_NOT_OK(CheckNoTableAbove(location, folder, shown));
  ARROW_RETURN_NOT_OK(CheckNoTableBehindLinks(location, folder, chosen, shown));
  return chosen;
}

arrow::Result<std::vector<ParquetSource::File>> ListGlob(const Location& location,
                                                         const std::string& shown) {
  const std::string& pattern = location.path;
  if (pattern.find("**") != std::string::npos) {
    return InputError(
        "`**` is not supported in a pattern; give the folder instead, which is read with "
        "all folders below it: '",
        shown, "'");
  }
  const std::string fixed = pattern.substr(0, pattern.find_first_of(kGlobSigns));
  const std::string folder =
      fixed.substr(0, std::max<std::size_t>(fixed.find_last_of('/'), 1));
  ARROW_ASSIGN_OR_RAISE(const auto info, location.filesystem->GetFileInfo(folder));
  std::vector<ParquetSource::File> files;
  if (info.IsDirectory()) {
    arrow::fs::internal::Globber globber(pattern);
    ARROW_ASSIGN_OR_RAISE(
        files, ChooseFrom(location, folder, shown,
                          [&](const auto& file) { return globber.Matches(file.path); }));
  }
  if (files.empty()) return InputError("no file matches the pattern '", shown, "'");
  return files;
}

arrow::Result<std::vector<ParquetSource::File>> ListPath(const Location& location,
                                                         const std::string& shown) {
  ARROW_ASSIGN_OR_RAISE(const auto info, location.filesystem->GetFileInfo(location.path));
  if (info.type() == arrow::fs::FileType::NotFound) {
    return InputError("no such file or directory: '", shown, "'");
  }
  if (info.IsFile()) {
    ARROW_RETURN_NOT_OK(CheckNoTableAbove(location, info.path(), shown));
    return std::vector<ParquetSource::File>{
        {info.base_name(), info.path(), info.size(), Nanoseconds(info.mtime())}};
  }
  ARROW_ASSIGN_OR_RAISE(auto files,
                        ChooseFrom(location, location.path, shown,
                                   [](const auto& file) { return IsData(file.name); }));
  if (files.empty()) {
    return InputError("the directory '", shown, "' holds no .parquet file");
  }
  return files;
}

}  // namespace

bool IsReadBefore(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const auto order = ComparePart(TakePart(&a), TakePart(&b));
    if (order != 0) return order < 0;
  }
  return a.size() < b.size();
}

arrow::Result<std::vector<ParquetSource::File>> ListParquetFiles(
    const Location& location, const std::string& shown,
    const std::vector<std::string>& known) {
  const bool is_glob = location.path.find_first_of(kGlobSigns) != std::string::npos;
  ARROW_ASSIGN_OR_RAISE(auto files, (is_glob ? ListGlob : ListPath)(location, shown));
  std::unordered_map<std::string_view, std::size_t> place;
  for (const std::string& name : known) place.emplace(name, place.size());
  const auto place_of = [&](const ParquetSource::File& file) {
    const auto found = place.find(file.name);
    return found == place.end() ? place.size() : found->second;
  };
  std::sort(files.begin(), files.end(), [&](const auto& a, const auto& b) {
    const std::size_t place_a = place_of(a);
    const std::size_t place_b = place_of(b);
    return place_a != place_b ? place_a < place_b : IsReadBefore(a.name, b.name);
  });
  return files;
}

}  // namespace coden
