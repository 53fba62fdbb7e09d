#include "report/epoch_log_internal.h"

#include <limits>

#include <nlohmann/json.hpp>

namespace coden {

namespace {

using nlohmann::json;

double NumberAt(const json& object, const char* key) {
  const auto value = object.find(key);
  if (value == object.end() || !value->is_number()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return value->get<double>();
}

std::int64_t WholeAt(const json& object, const char* key) {
  const auto value = object.find(key);
  const bool whole = value != object.end() && value->is_number_integer();
  return whole ? value->get<std::int64_t>() : 0;
}

}  // namespace

EpochLog ReadEpochLog(std::span<const std::string> lines) {
  EpochLog log;
  for (const std::string& line : lines) {
    const auto object = json::parse(line, nullptr, /*allow_exceptions=*/false);
    const bool has_epoch = object.is_object() && object.contains("epoch") &&
                           object.at("epoch").is_number_integer();
    if (!has_epoch) {
      // Lines of prediction times have the scores that metrics.parquet has.
      if (object.is_object() && object.contains("prediction")) continue;
      if (line.find_first_not_of(" \t\r\n") != std::string::npos) ++log.num_skipped;
      continue;
    }
    log.curves[{WholeAt(object, "run"), WholeAt(object, "lesson")}][WholeAt(
        object, "epoch")] = {NumberAt(object, "loss"), NumberAt(object, "validate_loss"),
                             NumberAt(object, "validate_micro_f1")};
  }
  return log;
}

}  // namespace coden
