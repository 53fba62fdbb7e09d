#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "experiment/trial_internal.h"

namespace coden {

namespace {

using nlohmann::ordered_json;

constexpr int kFormat = 1;

// JSON has no number that is not finite.
ordered_json NumberToJson(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

}  // namespace

std::vector<double> TrialResult::Values(std::string_view quantity) const {
  std::vector<double> values;
  for (const Measurement& one : measurements) {
    if (one.quantity == quantity) values.push_back(one.value);
  }
  return values;
}

double TrialResult::Value(std::string_view quantity) const {
  const std::vector<double> values = Values(quantity);
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : values.front();
}

std::string ToJson(const Trial& trial, const TrialResult& result) {
  ordered_json measurements = ordered_json::array();
  for (const Measurement& one : result.measurements) {
    ordered_json value = {{"quantity", one.quantity}, {"value", NumberToJson(one.value)}};
    if (one.run >= 0) value["run"] = one.run;
    if (one.prediction >= 0) value["prediction"] = one.prediction;
    if (one.time != kNoTime) value["time"] = one.time;
    if (one.snapshot >= 0) value["snapshot"] = one.snapshot;
    measurements.push_back(std::move(value));
  }
  const ordered_json all = {{"format", kFormat},
                            {"settings", MaskCredentials(ToIni(trial.settings))},
                            {"resumed", result.resumed},
                            {"measurements", std::move(measurements)}};
  // Paths need not be UTF-8.
  return all.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

arrow::Result<TrialResult> TrialResultFromJson(const std::string& text) {
  try {
    const auto all = nlohmann::json::parse(text);
    if (all.at("format") != kFormat) {
      return CorruptionError("it is of format ", all.at("format").dump());
    }
    TrialResult result;
    result.resumed = all.at("resumed");
    for (const auto& value : all.at("measurements")) {
      Measurement one;
      one.quantity = value.at("quantity");
      one.value = value.at("value").is_null() ? std::numeric_limits<double>::quiet_NaN()
                                              : value.at("value").get<double>();
      one.run = value.value("run", -1);
      one.prediction = value.value("prediction", -1);
      one.time = value.value("time", kNoTime);
      one.snapshot = value.value("snapshot", -1);
      result.measurements.push_back(std::move(one));
    }
    return result;
  } catch (const nlohmann::json::exception& exception) {
    return CorruptionError(exception.what());
  }
}

}  // namespace coden
