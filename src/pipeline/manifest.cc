#include "coden/pipeline/manifest.h"

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/table.h>
#include <arrow/util/io_util.h>
#include <nlohmann/json.hpp>

#include "coden/pipeline/error.h"
#include "coden/version.h"
#include "snapshot/hashing_stream_internal.h"

namespace coden {

namespace {

using nlohmann::json;

constexpr int kFormatVersion = 1;
constexpr std::string_view kPrefix = "manifest-";
constexpr std::string_view kSuffix = ".json";

std::string ManifestName(int number) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%06d", number);
  return std::string(RunLayout::kCommits) + "/" + std::string(kPrefix) + digits +
         std::string(kSuffix);
}

// The number in a manifest's file name; nothing for any other file.
std::optional<int> ManifestNumber(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  if (name.size() != 6 || !std::all_of(name.begin(), name.end(), ::isdigit)) {
    return std::nullopt;
  }
  return std::stoi(std::string(name));
}

json ToJson(const PartRecord& part) {
  json figures = json::array();
  for (const auto& figure : part.figures) {
    figures.push_back({{"name", figure.name},
                       {"taken", figure.taken},
                       {"given", figure.given},
                       {"seconds", figure.seconds}});
  }
  json files = json::array();
  for (const auto& file : part.files) {
    files.push_back({{"path", file.path},
                     {"size", file.size},
                     {"rows", file.rows},
                     {"xxh3", file.xxh3}});
  }
  return {{"name", part.name},
          {"fingerprint", part.fingerprint},
          {"parameters", part.parameters},
          {"figures", figures},
          {"notes", part.notes},
          {"files", files}};
}

// Throws as the library does, for the fence in LoadManifest.
void RequireArray(const json& value, const char* name) {
  if (!value.is_array())
    throw json::type_error::create(302, std::string(name) + " must be a list", &value);
}

PartRecord PartFromJson(const json& value) {
  PartRecord part;
  for (const char* list : {"figures", "notes", "files"})
    RequireArray(value.at(list), list);
  part.name = value.at("name");
  part.fingerprint = value.at("fingerprint");
  part.parameters = value.at("parameters");
  for (const auto& figure : value.at("figures")) {
    part.figures.push_back({figure.at("name"), figure.at("taken"), figure.at("given"),
                            figure.at("seconds")});
  }
  part.notes = value.at("notes").get<std::vector<std::string>>();
  for (const auto& file : value.at("files")) {
    part.files.push_back(
        {file.at("path"), file.at("size"), file.at("rows"), file.at("xxh3")});
  }
  return part;
}

}  // namespace

const PartRecord* Manifest::Find(std::string_view part) const {
  for (const PartRecord& record : parts) {
    if (record.name == part) return &record;
  }
  return nullptr;
}

void Manifest::Replace(PartRecord record) {
  std::erase_if(parts, [&](const PartRecord& part) { return part.name == record.name; });
  parts.push_back(std::move(record));
}

arrow::Result<std::optional<Manifest>> LoadManifest(const RunLayout& layout) {
  std::error_code error;
  int newest = 0;
  const std::string folder = layout.Path(RunLayout::kCommits);
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    newest =
        std::max(newest, ManifestNumber(entry.path().filename().string()).value_or(0));
  }
  if (newest == 0) return std::nullopt;

  const std::string path = layout.Path(ManifestName(newest));
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const json value = json::parse(text.str(), /*cb=*/nullptr, /*allow_exceptions=*/false);
  // The library reports a missing key or a wrong type by throwing; the fence is here.
  try {
    if (value.at("format_version") != kFormatVersion) {
      return CorruptionError("'", path, "' has a format this version does not know: ",
                             value.at("format_version").dump());
    }
    Manifest manifest;
    manifest.number = newest;
    RequireArray(value.at("parts"), "parts");
    for (const auto& part : value.at("parts"))
      manifest.parts.push_back(PartFromJson(part));
    return manifest;
  } catch (const json::exception& exception) {
    return CorruptionError(
        "the manifest '", path,
        "' is damaged; run with --force to rebuild: ", exception.what());
  }
}

arrow::Status PublishManifest(const RunLayout& layout, Manifest* manifest) {
  json parts = json::array();
  for (const PartRecord& part : manifest->parts) parts.push_back(ToJson(part));
  const json value = {
      {"format_version", kFormatVersion}, {"coden", kVersion}, {"parts", parts}};
  const std::string text =
      value.dump(2, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace) + "\n";

  const std::string staged_name = std::string(RunLayout::kStage) + "/manifest.json";
  const std::string staged = layout.Path(staged_name);
  const std::string path = layout.Path(ManifestName(manifest->number + 1));
  ARROW_RETURN_NOT_OK(WriteTextFile(layout, staged_name, text));
  // link(2) is the one way to give a complete file its name that fails where the name
  // exists.
  if (::link(staged.c_str(), path.c_str()) != 0) {
    if (errno == EEXIST) {
      return arrow::Status::Invalid("another process is writing to '", layout.directory,
                                    "': it published '", path, "' first");
    }
    return arrow::internal::IOErrorFromErrno(errno, "cannot publish '", path, "'");
  }
  ::unlink(staged.c_str());
  ARROW_RETURN_NOT_OK(SyncParentDirectory(path));
  ++manifest->number;
  return arrow::Status::OK();
}

arrow::Status CheckFiles(const RunLayout& layout, const PartRecord& part) {
  for (const FileRecord& file : part.files) {
    std::error_code error;
    const auto size = std::filesystem::file_size(layout.Path(file.path), error);
    if (error) {
      return CorruptionError("a file of the run is missing: '", layout.Path(file.path),
                             "'");
    }
    if (static_cast<std::int64_t>(size) != file.size) {
      return CorruptionError("a file of the run has another size than was written: '",
                             layout.Path(file.path), "': ", size, " in place of ",
                             file.size);
    }
  }
  return arrow::Status::OK();
}

arrow::Status WriteTextFile(const RunLayout& layout, std::string_view name,
                            std::string_view text) {
  const std::string path = layout.Path(name);
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  ::unlink(path.c_str());
  ARROW_ASSIGN_OR_RAISE(const auto file, HashingFile::Create(path));
  ARROW_RETURN_NOT_OK(file->Write(text.data(), static_cast<std::int64_t>(text.size())));
  return file->Close();
}

arrow::Result<FileRecord> DescribeFile(const RunLayout& layout, std::string_view name) {
  FileRecord record;
  record.path = name;
  ARROW_ASSIGN_OR_RAISE(const auto file,
                        arrow::io::ReadableFile::Open(layout.Path(name)));
  ARROW_ASSIGN_OR_RAISE(record.size, file->GetSize());
  ARROW_ASSIGN_OR_RAISE(const auto bytes, file->ReadAt(0, record.size));
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(
                    XXH3_64bits(bytes->data(), static_cast<std::size_t>(bytes->size()))));
  record.xxh3 = digits;
  if (name.ends_with(".parquet")) {
    ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(layout.Path(name)));
    record.rows = table->num_rows();
  }
  return record;
}

}  // namespace coden
