#include "experiment/suites_internal.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/experiment/pattern_log.h"

namespace coden {

namespace {

constexpr std::string_view kModels = "coden, coden-s, coden-r, coden-a";
constexpr std::string_view kStates = "4, 8, 16, 32, 64";
constexpr std::string_view kPatterns = "inclined, declined, balanced";
constexpr double kLambdaFactors[] = {0.25, 0.5, 1.0, 2.0, 4.0};

double NumberOf(const std::string& text, double otherwise) {
  double number = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole ? number : otherwise;
}

// One trial for every value of a setting.
arrow::Result<std::vector<Trial>> Sweep(const Settings& settings, std::string_view key,
                                        const std::vector<std::string>& values) {
  std::vector<Trial> trials;
  for (const std::string& value : values) {
    Trial trial{.name = value, .settings = settings};
    trial.x = NumberOf(value, static_cast<double>(trials.size()));
    trial.settings.train.energy = true;
    ARROW_RETURN_NOT_OK(Set(trial.settings, key, value));
    // The gate of one model means nothing to the others.
    if (trial.settings.train.model != ModelKind::kCodenR)
      trial.settings.train.gate = GateKind::kChannel;
    trials.push_back(std::move(trial));
  }
  return trials;
}

// The same for the values that `experiment.values` gives, or `usual`.
arrow::Result<std::vector<Trial>> SweepOf(const Settings& settings, std::string_view key,
                                          std::string_view usual) {
  ARROW_ASSIGN_OR_RAISE(const auto values, ValuesOf(settings, usual));
  return Sweep(settings, key, values);
}

arrow::Result<std::vector<Trial>> AccuracyTrials(const Settings& settings, Laboratory&,
                                                 const RunContext&) {
  if (!settings.experiment.values.empty()) {
    return UsageError(
        "`experiment.values` is for suites that vary something; `accuracy` ",
        "measures the pipeline as it is");
  }
  ARROW_ASSIGN_OR_RAISE(const Setting* model, FindSetting("train.model"));
  return Sweep(settings, "train.model", {model->get(settings)});
}

arrow::Result<std::vector<Trial>> ModelTrials(const Settings& settings, Laboratory&,
                                              const RunContext&) {
  return SweepOf(settings, "train.model", kModels);
}

arrow::Result<std::vector<Trial>> LambdaTrials(const Settings& settings, Laboratory&,
                                               const RunContext&) {
  std::string usual;
  for (const double factor : kLambdaFactors) {
    usual +=
        (usual.empty() ? "" : ", ") + FormatShortest(factor * settings.sample.lambda);
  }
  return SweepOf(settings, "sample.lambda", usual);
}

arrow::Result<std::vector<Trial>> StatesTrials(const Settings& settings, Laboratory&,
                                               const RunContext&) {
  const ModelKind model = settings.train.model;
  if (model != ModelKind::kCoden && model != ModelKind::kCodenA) {
    return UsageError(
        "`train.states` is of `train.model = coden` and `coden-a`; set one of them");
  }
  return SweepOf(settings, "train.states", kStates);
}

arrow::Result<std::vector<Trial>> PatternTrials(const Settings& settings, Laboratory& lab,
                                                const RunContext& context) {
  std::vector<Trial> trials;
  ARROW_ASSIGN_OR_RAISE(const auto names, ValuesOf(settings, kPatterns));
  for (const std::string& name : names) {
    ArrivalPattern pattern = ArrivalPattern::kInclined;
    if (name == "declined") {
      pattern = ArrivalPattern::kDeclined;
    } else if (name == "balanced") {
      pattern = ArrivalPattern::kBalanced;
    } else if (name != "inclined") {
      return UsageError("a pattern is inclined, declined or balanced: '", name, "'");
    }
    Trial trial{.name = name, .x = static_cast<double>(trials.size())};
    ARROW_ASSIGN_OR_RAISE(
        trial.settings, WritePatternLog(settings, pattern,
                                        lab.Path("logs/" + name + ".parquet"), context));
    trial.settings.train.energy = true;
    trials.push_back(std::move(trial));
  }
  return trials;
}

arrow::Result<std::vector<Trial>> ErrorTrials(const Settings& settings, Laboratory&,
                                              const RunContext&) {
  ARROW_RETURN_NOT_OK(RefuseValues(settings, "error"));
  return std::vector<Trial>{
      {.name = "pipeline", .settings = settings, .kind = TrialKind::kError}};
}

constexpr std::array<Suite, 8> kSuites = {{
    {{"accuracy", "Micro-F1 at every prediction time, mean and spread over seeds"},
     "model",
     AccuracyTrials,
     FindAccuracy},
    {{"ablation", "coden, coden-s, coden-r and coden-a: accuracy and time"},
     "model",
     ModelTrials,
     FindAccuracy},
    {{"lambda", "accuracy, time and snapshots for several sampling thresholds"},
     "lambda",
     LambdaTrials,
     FindSweep},
    {{"states", "accuracy and time for several numbers of states per channel"},
     "states",
     StatesTrials,
     FindSweep},
    {{"patterns", "edges inserted, deleted, or both (inclined, declined, balanced)"},
     "pattern",
     PatternTrials,
     FindAccuracy},
    {{"energy", "Dirichlet energy of the node representations over time"},
     "model",
     ModelTrials,
     FindEnergy},
    {{"error", "true errors and changes compared with their proven bounds"},
     "",
     ErrorTrials,
     FindErrors},
    {{"scaling", "embedding time and memory by rows, nodes, columns and threads"},
     "",
     ScalingTrials,
     FindScaling},
}};

}  // namespace

arrow::Result<std::vector<std::string>> ValuesOf(const Settings& settings,
                                                 std::string_view usual) {
  const std::string_view given =
      settings.experiment.values.empty() ? usual : settings.experiment.values;
  std::vector<std::string> values;
  for (std::size_t begin = 0; begin <= given.size();) {
    const std::size_t end = std::min(given.find(',', begin), given.size());
    std::string_view value = given.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t first = value.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
      return UsageError("`experiment.values` has an empty value: '", given, "'");
    }
    value = value.substr(first, value.find_last_not_of(" \t") - first + 1);
    if (std::find(values.begin(), values.end(), value) != values.end()) {
      return UsageError("`experiment.values` has a value twice: ", value);
    }
    values.emplace_back(value);
  }
  return values;
}

arrow::Status RefuseValues(const Settings& settings, std::string_view suite) {
  if (settings.experiment.values.empty()) return arrow::Status::OK();
  return UsageError("`experiment.values` is for suites that vary one setting; leave it ",
                    "out for `", suite, "`");
}

std::span<const Suite> AllSuiteKinds() { return kSuites; }

std::span<const SuiteName> AllSuites() {
  static const std::vector<SuiteName> names = [] {
    std::vector<SuiteName> all;
    all.reserve(kSuites.size());
    for (const Suite& suite : kSuites) all.push_back(suite.name);
    return all;
  }();
  return names;
}

}  // namespace coden
