#include <algorithm>

#include "store/file_record_json_internal.h"
#include "store/json_field_internal.h"

namespace coden {

namespace {

using nlohmann::json;

// The name of a file inside the run. Whoever can write a manifest must not be able to
// make the tool read, replace or remove anything else.
std::string SafeName(const json& value) {
  const auto name = value.get<std::string>();
  std::string_view rest = name;
  bool safe =
      !name.empty() && name.find('\\') == name.npos && name.find('\0') == name.npos;
  while (safe && !rest.empty()) {
    const std::string_view step = rest.substr(0, rest.find('/'));
    safe = !step.empty() && step != "." && step != "..";
    rest.remove_prefix(std::min(rest.size(), step.size() + 1));
  }
  if (!safe || name.ends_with('/'))
    throw json::other_error::create(501, "a name leads out of the run", &value);
  return name;
}

}  // namespace

json ToJson(const FileRecord& file) {
  json value = {
      {"path", file.path}, {"size", file.size}, {"rows", file.rows}, {"xxh3", file.xxh3}};
  if (!file.staged.empty()) value["staged"] = file.staged;
  return value;
}

FileRecord FileFromJson(const json& value) {
  FileRecord file{SafeName(value.at("path")), JsonField(value, "size"),
                  JsonField(value, "rows"), value.at("xxh3")};
  if (value.contains("staged")) file.staged = SafeName(value.at("staged"));
  return file;
}

}  // namespace coden
