#include "report/epoch_log_internal.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace coden {

namespace {

constexpr std::array<const char*, 3> kKeys = {"loss", "validate_loss",
                                              "validate_micro_f1"};

struct Sum {
  double total = 0.0;
  int count = 0;

  double mean() const {
    return count == 0 ? std::numeric_limits<double>::quiet_NaN() : total / count;
  }
};

}  // namespace

EpochLog ReadEpochLog(std::span<const std::string> lines) {
  EpochLog log;
  std::map<std::int64_t, std::array<Sum, kKeys.size()>> sums;
  std::set<std::int64_t> runs;
  for (const std::string& line : lines) {
    const auto object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto epoch = object.is_object() ? object.find("epoch") : object.end();
    if (!object.is_object() || epoch == object.end() || !epoch->is_number_integer()) {
      if (line.find_first_not_of(" \t\r\n") != std::string::npos) ++log.num_skipped;
      continue;
    }
    const auto run = object.find("run");
    const bool has_run = run != object.end() && run->is_number_integer();
    runs.insert(has_run ? run->get<std::int64_t>() : 0);
    auto& epoch_sums = sums[epoch->get<std::int64_t>()];
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      const auto value = object.find(kKeys[i]);
      if (value == object.end() || !value->is_number()) continue;
      if (!std::isfinite(value->get<double>())) continue;
      epoch_sums[i].total += value->get<double>();
      ++epoch_sums[i].count;
    }
  }
  log.num_runs = runs.size();
  for (const auto& [epoch, values] : sums) {
    log.epochs.push_back({epoch, values[0].mean(), values[1].mean(), values[2].mean()});
  }
  return log;
}

}  // namespace coden
