#include "report/training_facts_internal.h"

#include <charconv>
#include <cstdint>

namespace coden {

namespace {

std::string Get(const std::vector<IniSection>& settings, std::string_view section,
                std::string_view name) {
  return std::string(FindIniSetting(settings, section, name));
}

std::uint64_t Number(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string Seeds(const std::vector<IniSection>& settings) {
  const std::string first = Get(settings, "run", "seed");
  const std::uint64_t runs = Number(Get(settings, "train", "runs"));
  if (runs < 2) return "seed " + first;
  return std::to_string(runs) + " seeds, " + first + " to " +
         std::to_string(Number(first) + runs - 1);
}

std::string Split(const std::vector<IniSection>& settings) {
  const std::string by = Get(settings, "train", "split_by");
  if (by == "file") return "split from a file";
  return "split " + Get(settings, "train", "split") + " by " + by;
}

}  // namespace

std::string TrainingFacts(const std::vector<IniSection>& settings) {
  const std::string model = Get(settings, "train", "model");
  if (model.empty()) return {};
  std::string inputs = Get(settings, "train", "inputs");
  const std::string folds = Get(settings, "train", "label_columns");
  if (Number(folds) > 0) inputs += ", label columns (" + folds + " folds)";
  if (!Get(settings, "train", "averages").empty()) inputs += ", averages";
  return model + " on " + inputs + "; protocol " + Get(settings, "train", "protocol") +
         "; " + Seeds(settings) + "; " + Split(settings);
}

std::string SplitFacts(const std::vector<IniSection>& settings) {
  std::string facts = Split(settings) + "; " + Seeds(settings);
  for (const char* input : {"split", "labels"})
    facts += "; " + Get(settings, "input", input);
  return facts;
}

}  // namespace coden
