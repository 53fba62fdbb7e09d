#include "coden/state/saved_slice.h"

#include <algorithm>
#include <random>
#include <set>

#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "coden/store/hasher.h"
#include "coden/store/run_layout.h"
#include "coden/store/sealed_text.h"
#include "store/file_record_json_internal.h"
#include "store/json_field_internal.h"

namespace coden {

namespace {

using nlohmann::json;
using Field = JsonField<json>;

constexpr int kFormatVersion = 1;
constexpr std::string_view kSuffix = ".json";

std::string FolderOf(const std::string& schedule) {
  return std::string(RunLayout::kSlices) + "/" + schedule;
}

std::string NameOf(const ColumnRange& columns) {
  return "columns-" + std::to_string(columns.begin) + "-" + std::to_string(columns.end);
}

std::string RecordName(const std::string& schedule, const ColumnRange& columns) {
  return FolderOf(schedule) + "/" + NameOf(columns) + std::string(kSuffix);
}

std::vector<FileRecord> FilesOf(const SavedSlice& slice) {
  std::vector<FileRecord> files = slice.state;
  files.push_back(slice.rows);
  return files;
}

json ToJson(const SolveWork& work) {
  return {{"sweeps", work.sweeps},         {"proving_sweeps", work.proving_sweeps},
          {"swept_arcs", work.swept_arcs}, {"sweep_seconds", work.sweep_seconds},
          {"pushes", work.pushes},         {"pushed_arcs", work.pushed_arcs},
          {"seconds", work.seconds}};
}

SolveWork WorkFromJson(const json& value) {
  return {Field(value, "sweeps"),     Field(value, "proving_sweeps"),
          Field(value, "swept_arcs"), Field(value, "sweep_seconds"),
          Field(value, "pushes"),     Field(value, "pushed_arcs"),
          Field(value, "seconds")};
}

std::string ToText(const SavedSlice& slice) {
  json work = json::array();
  for (const SolveWork& one : slice.work) work.push_back(ToJson(one));
  json state = json::array();
  for (const FileRecord& file : slice.state) state.push_back(ToJson(file));
  const json value = {{"format_version", kFormatVersion},
                      {"begin", slice.columns.begin},
                      {"end", slice.columns.end},
                      {"error_bounds", slice.error_bounds},
                      {"work", work},
                      {"pushed", slice.engine.pushed},
                      {"bounds", slice.engine.bounds},
                      {"in_double", slice.engine.in_double},
                      {"seconds", slice.seconds},
                      {"peak_bytes", slice.peak_bytes},
                      {"rows", ToJson(slice.rows)},
                      {"state", state}};
  return SealJson(value.dump(1) + "\n");
}

arrow::Result<SavedSlice> FromText(const std::string& sealed, const std::string& shown) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, UnsealJson(sealed, shown));
  const json value = json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  // The library reports a missing key or a wrong type by throwing; the fence is here.
  try {
    if (value.at("format_version") != kFormatVersion)
      throw json::other_error::create(501, "another version of coden wrote it", &value);
    SavedSlice slice;
    slice.columns = {Field(value, "begin"), Field(value, "end")};
    slice.error_bounds = value.at("error_bounds").get<std::vector<double>>();
    for (const json& one : value.at("work")) slice.work.push_back(WorkFromJson(one));
    slice.engine.pushed = value.at("pushed");
    slice.engine.bounds = value.at("bounds").get<std::vector<double>>();
    slice.engine.in_double = value.at("in_double").get<std::vector<bool>>();
    slice.seconds = value.at("seconds");
    slice.peak_bytes = Field(value, "peak_bytes");
    slice.rows = FileFromJson(value.at("rows"));
    for (const json& file : value.at("state")) slice.state.push_back(FileFromJson(file));
    const auto width = static_cast<std::size_t>(std::max(slice.columns.size(), 0));
    if (slice.columns.begin < 0 || width == 0 || slice.engine.bounds.size() != width ||
        slice.engine.in_double.size() != width ||
        slice.work.size() != slice.error_bounds.size()) {
      throw json::other_error::create(501, "its numbers contradict each other", &value);
    }
    return slice;
  } catch (const json::exception& exception) {
    return CorruptionError(
        "'", shown,
        "' is damaged; remove it and embed these columns again: ", exception.what());
  }
}

arrow::Result<SavedSlice> Load(const RunStore& store, const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, store.ReadText(name));
  ARROW_ASSIGN_OR_RAISE(SavedSlice slice, FromText(text, store.Show(name)));
  for (const FileRecord& record : FilesOf(slice)) {
    ARROW_ASSIGN_OR_RAISE(const std::string place, store.Locate(record));
    ARROW_ASSIGN_OR_RAISE(const auto size, store.Size(place));
    if (size == record.size) continue;
    return CorruptionError("'", store.Show(name),
                           "' names a file that is not there as "
                           "it was written; remove it and embed these columns again: '",
                           store.Show(place), "'");
  }
  return slice;
}

}  // namespace

std::string ScheduleId(const PartRecord& embed) {
  std::string known = embed.fingerprint;
  for (const std::string_view name :
       {RunLayout::kPlan, RunLayout::kProgress, RunLayout::kNodes}) {
    if (const FileRecord* file = embed.FindFile(name)) known += file->xxh3;
  }
  return HashOf(known.data(), known.size());
}

std::string NewSliceFolder(const std::string& schedule, const ColumnRange& columns) {
  std::random_device device;
  const std::uint32_t number[] = {device(), device()};
  return FolderOf(schedule) + "/" + NameOf(columns) + "/" +
         HashOf(number, sizeof(number));
}

arrow::Result<SavedSlice> PublishSlice(RunStore& store, const std::string& schedule,
                                       SavedSlice slice) {
  const std::string name = RecordName(schedule, slice.columns);
  ARROW_ASSIGN_OR_RAISE(const bool first, store.CreateNew(name, ToText(slice)));
  if (first) return slice;
  for (const FileRecord& file : FilesOf(slice))
    ARROW_RETURN_NOT_OK(store.Remove(file.staged));
  return Load(store, name);
}

arrow::Result<std::vector<SavedSlice>> LoadSlices(const RunStore& store,
                                                  const std::string& schedule) {
  const std::string folder = FolderOf(schedule) + "/";
  ARROW_ASSIGN_OR_RAISE(const auto names, store.List(FolderOf(schedule)));
  std::vector<SavedSlice> slices;
  for (const std::string& name : names) {
    if (!name.ends_with(kSuffix) || name.find('/', folder.size()) != name.npos) continue;
    ARROW_ASSIGN_OR_RAISE(slices.emplace_back(), Load(store, name));
  }
  // Of two with the same beginning the wider one first.
  std::sort(slices.begin(), slices.end(), [](const auto& one, const auto& other) {
    return std::pair(one.columns.begin, -one.columns.end) <
           std::pair(other.columns.begin, -other.columns.end);
  });
  return slices;
}

arrow::Status RemoveSlicesBut(RunStore& store, const std::string& schedule,
                              const std::vector<SavedSlice>& kept) {
  std::set<std::string> names;
  for (const SavedSlice& slice : kept) {
    names.insert(RecordName(schedule, slice.columns));
    for (const FileRecord& file : FilesOf(slice)) names.insert(file.staged);
  }
  ARROW_ASSIGN_OR_RAISE(const auto found, store.List(RunLayout::kSlices));
  for (const std::string& name : found) {
    if (!names.contains(name)) ARROW_RETURN_NOT_OK(store.Remove(name));
  }
  return arrow::Status::OK();
}

std::vector<ColumnRange> MissingColumns(const ColumnRange& columns,
                                        std::vector<SavedSlice>* slices) {
  std::vector<ColumnRange> missing;
  int next = columns.begin;
  std::erase_if(*slices, [&](const SavedSlice& slice) {
    if (slice.columns.begin < next || slice.columns.end > columns.end) return true;
    if (slice.columns.begin > next) missing.push_back({next, slice.columns.begin});
    next = slice.columns.end;
    return false;
  });
  if (next < columns.end) missing.push_back({next, columns.end});
  return missing;
}

}  // namespace coden
