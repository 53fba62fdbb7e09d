#include "read/lake_table_internal.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include <arrow/filesystem/filesystem.h>

#include "coden/base/error.h"

namespace coden {

namespace {

constexpr std::string_view kDeltaLog = "_delta_log";
constexpr std::string_view kMetadata = "metadata";
// Folders of a store that are looked up: more than tables of any layout have.
constexpr int kMostFoldersOfStore = 24;

enum class TableKind { kDelta, kIceberg };

// v3.metadata.json or 00003-UUID.metadata.json, perhaps compressed; not the metadata that
// somebody keeps in a file of a name of their own.
bool IsIcebergMetadata(std::string_view file) {
  if (file.find(".metadata.json") == std::string_view::npos) return false;
  const bool versioned = file.starts_with('v');
  if (versioned) file.remove_prefix(1);
  const auto end = std::find_if_not(file.begin(), file.end(), [](unsigned char sign) {
    return std::isdigit(sign) != 0;
  });
  return end != file.begin() && *end == (versioned ? '.' : '-');
}

arrow::Status TableError(TableKind kind, const std::string& table,
                         const std::string& shown) {
  // A path of a store has lost its scheme.
  const std::size_t scheme = shown.find("://");
  const std::string name = scheme == std::string::npos || table.starts_with('/')
                               ? table
                               : shown.substr(0, scheme) + "://" + table;
  const bool delta = kind == TableKind::kDelta;
  return InputError("cannot read '", shown, "' as plain files: '", name, "' is ",
                    delta ? "a Delta" : "an Iceberg",
                    " table, and files that the table has removed would be counted; "
                    "write its rows to a Parquet file and read that: "
                    "pyarrow.parquet.write_table(",
                    delta ? "deltalake.DeltaTable('" + name + "').to_pyarrow_table()"
                          : "pyiceberg.catalog.load_catalog(...).load_table(...).scan()"
                            ".to_arrow()",
                    ", ...)");
}

// What the file called `name`, below some folder, says about the folder it is in: "t/"
// for "t/_delta_log/0.json".
struct TableMark {
  TableKind kind;
  std::string_view folder;
};

std::optional<TableMark> MarkOf(std::string_view name) {
  std::size_t begin = 0;
  for (std::size_t end = name.find('/'); end != name.npos; end = name.find('/', begin)) {
    const std::string_view part = name.substr(begin, end - begin);
    if (part == kDeltaLog) return TableMark{TableKind::kDelta, name.substr(0, begin)};
    if (part == kMetadata && IsIcebergMetadata(name.substr(end + 1)))
      return TableMark{TableKind::kIceberg, name.substr(0, begin)};
    begin = end + 1;
  }
  return std::nullopt;
}

// The names of the files of `folder`. A folder that cannot be listed says nothing: who
// may read one file of a store need not be allowed to list it.
std::vector<std::string> NamesIn(arrow::fs::FileSystem& filesystem,
                                 const std::string& folder) {
  arrow::fs::FileSelector selector;
  selector.base_dir = folder;
  selector.allow_not_found = true;
  std::vector<std::string> names;
  const auto infos = filesystem.GetFileInfo(selector);
  if (!infos.ok()) return names;
  for (const auto& info : *infos) names.push_back(info.base_name());
  return names;
}

std::optional<TableKind> KindOf(arrow::fs::FileSystem& filesystem, std::string folder) {
  if (!folder.ends_with('/')) folder += '/';
  if (!NamesIn(filesystem, folder + std::string(kDeltaLog)).empty())
    return TableKind::kDelta;
  const auto names = NamesIn(filesystem, folder + std::string(kMetadata));
  if (std::any_of(names.begin(), names.end(), IsIcebergMetadata))
    return TableKind::kIceberg;
  return std::nullopt;
}

// The path without links, `..` and slashes at its end, so that what is cut off step by
// step are the folders it is in.
std::string Resolved(const Location& location, std::string path) {
  if (location.local) {
    std::error_code failed;
    const auto resolved = std::filesystem::canonical(path, failed);
    if (!failed) path = resolved.string();
  }
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

arrow::Status CheckNoTableInside(const std::vector<ParquetSource::File>& listed,
                                 const std::vector<ParquetSource::File>& chosen,
                                 const std::string& folder, const std::string& shown) {
  for (const auto& file : listed) {
    const auto mark = MarkOf(file.name);
    if (!mark) continue;
    const auto is_in_table = [&](const auto& one) {
      return one.name.starts_with(mark->folder);
    };
    if (mark->folder.empty() || std::any_of(chosen.begin(), chosen.end(), is_in_table)) {
      std::string table = folder;
      if (!mark->folder.empty() && !table.ends_with('/')) table += '/';
      table += mark->folder.substr(0, mark->folder.rfind('/'));
      return TableError(mark->kind, table, shown);
    }
  }
  return arrow::Status::OK();
}

arrow::Status CheckNoTableAbove(const Location& location, const std::string& path,
                                const std::string& shown) {
  std::string folder = Resolved(location, path);
  for (int i = 0; location.local || i < kMostFoldersOfStore; ++i) {
    const std::size_t slash = folder.rfind('/');
    if (slash == std::string::npos || folder.size() == 1) break;
    folder.resize(std::max<std::size_t>(slash, 1));
    const auto kind = KindOf(*location.filesystem, folder);
    if (kind) return TableError(*kind, folder, shown);
  }
  return arrow::Status::OK();
}

arrow::Status CheckNoTableBehindLinks(const Location& location, const std::string& folder,
                                      const std::vector<ParquetSource::File>& chosen,
                                      const std::string& shown) {
  if (!location.local) return arrow::Status::OK();
  const std::filesystem::path top = Resolved(location, folder);
  std::set<std::filesystem::path> checked;
  for (const auto& file : chosen) {
    const std::filesystem::path real = Resolved(location, file.path);
    if (real == top / file.name || !checked.insert(real.parent_path()).second) continue;
    ARROW_RETURN_NOT_OK(CheckNoTableAbove(location, real.string(), shown));
  }
  return arrow::Status::OK();
}

}  // namespace coden
