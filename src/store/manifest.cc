#include "coden/store/manifest.h"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "coden/store/run_layout.h"
#include "coden/store/sealed_text.h"
#include "coden/version.h"
#include "store/file_record_json_internal.h"
#include "store/json_field_internal.h"

namespace coden {

namespace {

using nlohmann::json;

constexpr int kFormatVersion = 5;
constexpr std::string_view kPrefix = "_coden/manifest-";
constexpr std::string_view kSuffix = ".json";
// Before the name of an earlier training, which is listed among the parts.
constexpr std::string_view kTrainingsPrefix = "trainings/";

// How often a manifest may vanish between being listed and being read: a writer removes
// those that newer ones have replaced.
constexpr int kTries = 20;

json ToJson(const PartRecord& part) {
  json figures = json::array();
  for (const auto& figure : part.figures) {
    json value = {{"name", figure.name},
                  {"taken", figure.taken},
                  {"given", figure.given},
                  {"seconds", figure.seconds}};
    if (figure.peak_bytes != 0) value["peak_bytes"] = figure.peak_bytes;
    if (!figure.counts.empty()) value["counts"] = figure.counts;
    if (!figure.measures.empty()) value["measures"] = figure.measures;
    figures.push_back(std::move(value));
  }
  json inputs = json::array();
  for (const auto& input : part.inputs) {
    inputs.push_back({{"role", input.role},
                      {"name", input.name},
                      {"size", input.size},
                      {"modified", input.modified},
                      {"xxh3", input.xxh3}});
  }
  json files = json::array();
  for (const auto& file : part.files) files.push_back(ToJson(file));
  json counts = json::object();
  for (const InputCountField& field : InputCountFields()) {
    if (const auto& count = part.counts.*field.value)
      counts[std::string(field.key)] = *count;
  }
  return {{"name", part.name},
          {"complete", part.complete},
          {"version", part.version},
          {"fingerprint", part.fingerprint},
          {"parameters", part.parameters},
          {"figures", figures},
          {"notes", part.notes},
          {"counts", counts},
          {"inputs", inputs},
          {"files", files}};
}

// These throw as the library does, for the fence in ParseManifest.
void RequireArray(const json& value, const char* name) {
  if (!value.is_array())
    throw json::type_error::create(302, std::string(name) + " must be a list", &value);
}

// The numbers of the object `name` of `value`; none where there is no such member.
template <typename Number>
std::map<std::string, Number> NumbersFromJson(const json& value, const char* name) {
  std::map<std::string, Number> numbers;
  const auto found = value.find(name);
  if (found == value.end()) return numbers;
  if (!found->is_object())
    throw json::type_error::create(302, std::string("type of ") + name, &value);
  for (const auto& [key, number] : found->items())
    numbers[key] = JsonField(number).template As<Number>();
  return numbers;
}

PartRecord PartFromJson(const json& value) {
  PartRecord part;
  for (const char* list : {"figures", "notes", "inputs", "files"})
    RequireArray(value.at(list), list);
  part.name = value.at("name");
  part.complete = value.at("complete");
  part.version = value.at("version");
  part.fingerprint = value.at("fingerprint");
  part.parameters = value.at("parameters");
  for (const auto& figure : value.at("figures")) {
    StageFigure& known = part.figures.emplace_back();
    known = {figure.at("name"), figure.at("taken"), figure.at("given"),
             figure.at("seconds")};
    if (figure.contains("peak_bytes")) known.peak_bytes = JsonField(figure, "peak_bytes");
    known.counts = NumbersFromJson<std::int64_t>(figure, "counts");
    known.measures = NumbersFromJson<double>(figure, "measures");
  }
  part.notes = value.at("notes").get<std::vector<std::string>>();
  const json& counts = value.at("counts");
  if (!counts.is_object())
    throw json::type_error::create(302, "counts must be an object", &value);
  for (const InputCountField& field : InputCountFields()) {
    const std::string key(field.key);
    if (counts.contains(key))
      part.counts.*field.value =
          static_cast<std::int64_t>(JsonField(counts, key.c_str()));
  }
  for (const auto& input : value.at("inputs")) {
    part.inputs.push_back({input.at("role"), input.at("name"), JsonField(input, "size"),
                           JsonField(input, "modified"), input.at("xxh3")});
  }
  for (const auto& file : value.at("files")) part.files.push_back(FileFromJson(file));
  return part;
}

arrow::Result<Manifest> ParseManifest(const std::string& text, int number,
                                      const std::string& shown) {
  const json value = json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  // The library reports a missing key or a wrong type by throwing; the fence is here.
  try {
    if (value.at("format_version") != kFormatVersion) {
      return CorruptionError(
          "'", shown, "' has a format this version does not know; run ",
          "with --force to rebuild: ", value.at("format_version").dump());
    }
    // An older state of the run must not pass for the newest one.
    if (value.at("number") != number) {
      return CorruptionError("'", shown, "' is the text of another manifest, number ",
                             value.at("number").dump(), "; run with --force to rebuild");
    }
    Manifest manifest;
    manifest.number = number;
    RequireArray(value.at("parts"), "parts");
    for (const auto& entry : value.at("parts")) {
      PartRecord part = PartFromJson(entry);
      if (part.name.starts_with(kTrainingsPrefix)) {
        part.name.erase(0, kTrainingsPrefix.size());
        manifest.trainings.push_back(std::move(part));
      } else {
        manifest.parts.push_back(std::move(part));
      }
    }
    return manifest;
  } catch (const json::exception& exception) {
    return CorruptionError(
        "the manifest '", shown,
        "' is damaged; run with --force to rebuild: ", exception.what());
  }
}

arrow::Result<Manifest> ParseSealed(const RunStore& store, const std::string& text,
                                    int number) {
  const std::string shown = store.Show(ManifestName(number));
  ARROW_ASSIGN_OR_RAISE(const std::string unsealed, UnsealJson(text, shown));
  return ParseManifest(unsealed, number, shown);
}

}  // namespace

const FileRecord* PartRecord::FindFile(std::string_view path) const {
  for (const FileRecord& file : files) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

void PartRecord::ReplaceFile(FileRecord record) {
  for (FileRecord& file : files) {
    if (file.path == record.path) {
      file = std::move(record);
      return;
    }
  }
  files.push_back(std::move(record));
}

const PartRecord* Manifest::Find(std::string_view part) const {
  for (const PartRecord& record : parts) {
    if (record.name == part) return &record;
  }
  return nullptr;
}

void Manifest::Replace(PartRecord record) {
  Drop(record.name);
  parts.push_back(std::move(record));
}

bool Manifest::Drop(std::string_view part) {
  return std::erase_if(parts, [&](const PartRecord& p) { return p.name == part; }) > 0;
}

const FileRecord* Manifest::FindFile(std::string_view path) const {
  for (const PartRecord& part : parts) {
    if (const FileRecord* file = part.FindFile(path)) return file;
  }
  return nullptr;
}

std::vector<FileRecord> Manifest::AllFiles() const {
  std::vector<FileRecord> files;
  for (const std::vector<PartRecord>* all : {&parts, &trainings}) {
    for (const PartRecord& part : *all)
      files.insert(files.end(), part.files.begin(), part.files.end());
  }
  return files;
}

std::string ManifestName(int number) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%06d", number);
  return std::string(kPrefix) + digits + std::string(kSuffix);
}

std::optional<int> ManifestNumber(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  const bool digits = std::all_of(name.begin(), name.end(), ::isdigit);
  if (name.size() < 6 || name.size() > 9 || !digits) return std::nullopt;
  return std::stoi(std::string(name));
}

std::string ManifestText(const Manifest& manifest) {
  json parts = json::array();
  for (const PartRecord& part : manifest.parts) parts.push_back(ToJson(part));
  for (PartRecord training : manifest.trainings) {
    training.name.insert(0, kTrainingsPrefix);
    parts.push_back(ToJson(training));
  }
  const json value = {{"format_version", kFormatVersion},
                      {"coden", kVersion},
                      {"number", manifest.number},
                      {"parts", parts}};
  std::string text =
      value.dump(1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
  return SealJson(text += '\n');
}

arrow::Result<int> NewestManifest(const RunStore& store) {
  ARROW_ASSIGN_OR_RAISE(const auto names, store.List(RunLayout::kCommits));
  int newest = 0;
  for (const std::string& name : names)
    newest = std::max(newest, ManifestNumber(name).value_or(0));
  return newest;
}

arrow::Result<std::optional<Manifest>> LoadManifest(const RunStore& store) {
  for (int attempt = 1;; ++attempt) {
    ARROW_ASSIGN_OR_RAISE(const int newest, NewestManifest(store));
    if (newest == 0) return std::nullopt;
    const auto text = store.ReadText(ManifestName(newest));
    if (!text.ok() && attempt < kTries) continue;
    if (!text.ok()) return text.status();
    ARROW_ASSIGN_OR_RAISE(Manifest manifest, ParseSealed(store, *text, newest));
    store.Expect(manifest.AllFiles());
    return manifest;
  }
}

arrow::Status NotInRun(const RunStore& store, std::string_view what,
                       std::string_view commands) {
  return InputError("there is no ", what, " in '", store.Show(), "'; make it with ",
                    commands, " first");
}

arrow::Result<Manifest> LoadRun(const RunStore& store) {
  ARROW_ASSIGN_OR_RAISE(auto manifest, LoadManifest(store));
  if (!manifest) return NotInRun(store, "run", "`coden run`");
  return *std::move(manifest);
}

arrow::Result<Manifest> ManifestBefore(const RunStore& store, const Manifest& manifest) {
  const std::string name = ManifestName(manifest.number - 1);
  ARROW_ASSIGN_OR_RAISE(const auto size, store.Size(name));
  if (!size) return Manifest{};
  ARROW_ASSIGN_OR_RAISE(const std::string text, store.ReadText(name));
  auto before = ParseSealed(store, text, manifest.number - 1);
  if (FaultOf(before.status()) == Fault::kCorruption) return Manifest{};
  return before;
}

}  // namespace coden
