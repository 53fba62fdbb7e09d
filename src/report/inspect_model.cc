#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <arrow/io/file.h>
#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "coden/store/run_layout.h"
#include "report/inspect_internal.h"
#include "store/safetensors_header_internal.h"

namespace coden {

namespace {

using nlohmann::ordered_json;

// A configuration is a page long; anything much larger is not one.
constexpr std::uintmax_t kMaxConfigBytes = 64 << 20;

std::string FileIn(const std::string& folder, std::string_view name_in_run) {
  const auto name = std::filesystem::path(name_in_run).filename();
  return (std::filesystem::path(folder) / name).string();
}

Cell ConfigCell(const ordered_json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  constexpr std::size_t kMostLetters = 100;
  // Writing what is nested deeply would take much stack.
  const bool nested = std::any_of(value.begin(), value.end(), [](const auto& inner) {
    return inner.is_structured();
  });
  if (nested) return "[...]";
  std::string text = value.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true);
  if (text.size() > kMostLetters)
    text.replace(kMostLetters - 3, std::string::npos, "...");
  return text;
}

arrow::Result<ResultsTable> ConfigTable(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return CorruptionError("the model has no '", path, "'");
  if (size > kMaxConfigBytes) {
    return CorruptionError("'", path, "' is too large to be a model's: ", size, " bytes");
  }
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  const auto config = ordered_json::parse(text.str(), /*cb=*/nullptr,
                                          /*allow_exceptions=*/false);
  if (!config.is_object()) {
    return CorruptionError("'", path, "' is damaged: it is no JSON object");
  }
  FactsTable facts("model", "Model");
  for (const auto& [key, value] : config.items()) facts.Add(key, key, ConfigCell(value));
  return facts.Take();
}

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text.empty() ? "scalar" : text;
}

}  // namespace

arrow::Result<Tables> InspectSafetensors(const std::string& file) {
  ARROW_ASSIGN_OR_RAISE(const auto opened, arrow::io::ReadableFile::Open(file));
  ARROW_ASSIGN_OR_RAISE(const auto header, ReadSafetensorsHeader(*opened, file));
  ResultsTable table;
  table.key = "tensors";
  table.title = "Tensors";
  table.columns = {{"tensor", "tensor"},
                   {"dtype", "type"},
                   {"shape", "shape"},
                   {"values", "values", ColumnType::kInteger},
                   {"bytes", "bytes", ColumnType::kInteger}};
  std::int64_t values = 0;
  std::int64_t bytes = 0;
  for (const TensorInfo& tensor : header.tensors) {
    table.rows.push_back({tensor.name, tensor.dtype, ShapeText(tensor.shape),
                          tensor.num_values, tensor.num_bytes});
    values += tensor.num_values;
    bytes += tensor.num_bytes;
  }
  table.footer = {{std::string("all"), Cell{}, Cell{}, values, bytes}};
  return Tables{std::move(table)};
}

arrow::Result<Tables> InspectModel(const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(auto config,
                        ConfigTable(FileIn(folder, RunLayout::kModelConfig)));
  ARROW_ASSIGN_OR_RAISE(auto tables,
                        InspectSafetensors(FileIn(folder, RunLayout::kModelWeights)));
  tables.insert(tables.begin(), std::move(config));
  return tables;
}

}  // namespace coden
