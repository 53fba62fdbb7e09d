// coden init: a commented pipeline file from flags and from what the inputs hold.

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "cli/command_internal.h"
#include "coden/base/error.h"
#include "coden/base/ini_text.h"
#include "coden/base/printable.h"
#include "coden/pipeline/run_comparison.h"
#include "coden/read/input_survey.h"

namespace coden {

namespace {

constexpr int kRandomFeatures = 64;
constexpr std::string_view kOut = "out";

// Short names of the settings that nearly every pipeline sets.
constexpr std::pair<std::string_view, std::string_view> kShortNames[] = {
    {"edges", "input.edges"},
    {"features", "input.features"},
    {"labels", "input.labels"},
    {"directory", "run.directory"}};

struct InitRequest {
  Settings settings;
  std::set<std::string> given;  // keys
  std::string out;
};

arrow::Result<InitRequest> RequestFrom(const CommandLine& line) {
  InitRequest request;
  for (const auto& [name, value] : line.flags) {
    if (name == kOut) {
      request.out = value;
      continue;
    }
    const auto* const found =
        std::find_if(std::begin(kShortNames), std::end(kShortNames),
                     [&](const auto& pair) { return pair.first == name; });
    const std::string key(found == std::end(kShortNames) ? name : found->second);
    if (!request.given.insert(key).second) {
      return UsageError("`--", name, "` is given twice");
    }
    ARROW_RETURN_NOT_OK(Set(request.settings, key, value));
  }
  if (!line.words.empty()) {
    return UsageError("`init` takes flags alone; name the new file with `--out`: '",
                      line.words.front(), "'");
  }
  if (request.settings.input.edges.empty()) {
    return UsageError("`init` needs the edge log: give `--edges`");
  }
  return request;
}

// Settings that the inputs leave open, as a first run wants them.
void FillIn(const std::string& out, Settings* settings) {
  if (settings->run.directory.empty()) {
    const std::string stem = std::filesystem::path(out).stem().string();
    settings->run.directory = "runs/" + (stem.empty() ? "my" : stem);
  }
  if (settings->input.features.empty() && settings->input.random_features == 0) {
    settings->input.random_features = kRandomFeatures;
  }
  PartitionOptions& partition = settings->partition;
  if (partition.predictions == 0 && partition.width == 0 && partition.times.empty()) {
    partition.predictions = PartitionOptions::kDefaultPredictions;
  }
}

// Settings that are shown at their defaults, too, because a user will want to see them.
std::set<std::string_view> ShownKeys(const InputOptions& input) {
  std::set<std::string_view> keys = {
      "input.src",         "input.dst",         "input.time",  "graph.events",
      "graph.directed",    "partition.initial", "embed.alpha", "embed.epsilon",
      "embed.propagation", "sample.lambda"};
  const bool vectors = !input.features.empty() || !input.feature_updates.empty();
  if (vectors) keys.insert("input.feature");
  if (vectors || !input.labels.empty()) keys.insert("input.node");
  if (!input.labels.empty()) {
    keys.insert({"input.label", "train.model", "train.protocol", "train.epochs"});
  }
  return keys;
}

std::string FileText(const InputSurvey& survey, const InitRequest& request) {
  const std::string name = IniValue(request.out.empty() ? "my.ini" : request.out);
  std::string text =
      "# Written by `coden init`. Lines with CHECK need your attention.\n#\n"
      "#     coden validate " +
      name + "\n#     coden run " + name +
      "\n#\n# Paths are relative to the folder in which coden is called. "
      "`coden settings` lists\n# all settings.\n";
  const auto shown = ShownKeys(survey.settings.input);
  std::string section;
  for (const Setting& setting : AllSettings()) {
    std::string remarks;
    for (const SurveyRemark& remark : survey.remarks) {
      if (remark.key != setting.key) continue;
      remarks += IniComment((remark.doubt ? "CHECK: " : "") + Printable(remark.text));
    }
    const std::string value = setting.get(survey.settings);
    if (remarks.empty() && value == setting.default_text &&
        !shown.contains(setting.key) && !request.given.contains(setting.key)) {
      continue;
    }
    if (setting.section() != section) {
      section = setting.section();
      text += "\n[" + section + "]\n";
    }
    // What is not known is left to be filled in.
    const bool unknown = survey.unknown.contains(setting.key);
    text += "\n" + IniComment(setting.help) + remarks + (unknown ? "# " : "") +
            std::string(setting.name()) + " = " + (unknown ? "" : IniValue(value)) + "\n";
  }
  return text;
}

}  // namespace

std::vector<FlagSection> InitFlags() {
  FlagSection section{"Inputs and output:", {}};
  for (const auto& [name, key] : kShortNames) {
    const Setting& setting = *FindSetting(key).ValueOrDie();
    section.flags.push_back({std::string(name), setting.rule, setting.help, ""});
  }
  section.flags.push_back({std::string(kOut), "",
                           "File to write; an existing one only with --force. Without "
                           "it the text goes to standard output.",
                           ""});
  return {std::move(section)};
}

arrow::Status InitCommand(const CommandLine& line, const RunContext& context,
                          std::string* output) {
  ARROW_ASSIGN_OR_RAISE(InitRequest request, RequestFrom(line));
  std::error_code ignored;
  if (!line.force && !request.out.empty() &&
      std::filesystem::exists(request.out, ignored)) {
    return UsageError(
        "there is such a file already; choose another name, or give "
        "--force to overwrite it: '",
        request.out, "'");
  }
  FillIn(request.out, &request.settings);
  ARROW_RETURN_NOT_OK(Validate(request.settings));
  ARROW_ASSIGN_OR_RAISE(const InputSurvey survey,
                        SurveyInputs(request.settings, request.given, context));
  ARROW_RETURN_NOT_OK(Validate(survey.settings));
  const std::string text = FileText(survey, request);
  for (const SurveyRemark& remark : survey.remarks) {
    if (remark.doubt) {
      context.progress->Warn("check `" + remark.key +
                             "`: " + MaskCredentials(remark.text));
    }
  }
  if (request.out.empty()) {
    *output = text;
    return arrow::Status::OK();
  }
  ARROW_RETURN_NOT_OK(WriteWholeFile(request.out, text));
  context.progress->Note("wrote '" + request.out + "'; next: coden validate " +
                         request.out);
  return arrow::Status::OK();
}

}  // namespace coden
