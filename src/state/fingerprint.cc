#include "coden/state/fingerprint.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/read/parquet_source.h"
#include "coden/store/filesystem.h"
#include "coden/store/hasher.h"
#include "coden/version.h"
#include "read/parquet_files_internal.h"

namespace coden {

namespace {

constexpr std::string_view kEdges = "edges";
constexpr std::string_view kFeatures = "features";
constexpr std::string_view kUpdates = "feature_updates";
constexpr std::string_view kLabels = "labels";
constexpr std::string_view kSplit = "split";

std::string Hash(std::string_view text) { return HashOf(text.data(), text.size()); }

const InputRecord* FindInput(const Manifest& known, std::string_view role,
                             const ParquetSource::File& file) {
  for (const PartRecord& part : known.parts) {
    for (const InputRecord& input : part.inputs) {
      if (input.role == role && input.name == file.name && input.size == file.size &&
          input.modified != 0 && input.modified == file.modified) {
        return &input;
      }
    }
  }
  return nullptr;
}

// Describe the files of one input.
arrow::Status Identify(const std::string& path, std::string_view role,
                       const Manifest& known, bool known_first,
                       std::vector<InputRecord>* inputs) {
  if (path.empty()) return arrow::Status::OK();
  std::vector<std::string> first;
  for (const PartRecord& part : known.parts) {
    if (!known_first) break;
    for (const InputRecord& input : part.inputs) {
      if (input.role == role) first.push_back(input.name);
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto source, ParquetSource::Open(path, first));
  for (const ParquetSource::File& file : source->files()) {
    InputRecord record{std::string(role), file.name, file.size, file.modified, {}};
    if (const InputRecord* same = FindInput(known, role, file)) {
      record.xxh3 = same->xxh3;
    } else {
      // Every byte: a file may change without changing its size or its footer.
      const auto hash = [&]() -> arrow::Result<std::string> {
        ARROW_ASSIGN_OR_RAISE(const auto bytes, source->OpenFile(file));
        return HashFile(*bytes);
      };
      auto found = hash();
      if (!found.ok()) {
        return WithFault(
            found.status(), Fault::kInput,
            "cannot read '" + MaskCredentials(path) + "', file '" + file.name + "': ");
      }
      record.xxh3 = *std::move(found);
    }
    inputs->push_back(std::move(record));
  }
  return arrow::Status::OK();
}

// What counts of the files: names and contents, not when they were written.
std::string Contents(const std::vector<InputRecord>& inputs) {
  std::string text;
  for (const InputRecord& input : inputs)
    text += input.role + " " + input.name + " " + input.xxh3 + "\n";
  return text;
}

// Whether a value is another one that goes on: more prediction times, in their order, or
// another end of the log, which is as good as more rows as long as none is missing.
bool GoesOn(std::string_view key, std::string_view now, std::string_view before) {
  if (key == "input.until") return true;
  return key == "partition.times" && !before.empty() && now.starts_with(before) &&
         now.substr(before.size()).starts_with(",");
}

// Settings of `sections` as lines, without those that cannot change a result.
std::string ResultSettings(const Settings& settings,
                           std::initializer_list<std::string_view> sections) {
  constexpr std::string_view kNoEffect[] = {
      "input.edges", "input.features",   "input.feature_updates", "input.labels",
      "input.label", "input.label_time", "input.split",           "input.batch_rows",
      "input.late",  "embed.audit"};
  std::string text;
  for (const Setting& setting : AllSettings()) {
    if (std::find(sections.begin(), sections.end(), setting.section()) ==
        sections.end()) {
      continue;
    }
    if (std::find(std::begin(kNoEffect), std::end(kNoEffect), setting.key) !=
        std::end(kNoEffect)) {
      continue;
    }
    if (setting.key == "input.random_seed" && settings.input.random_features == 0) {
      continue;
    }
    text += setting.key + " = " + setting.get(settings) + "\n";
  }
  return text;
}

}  // namespace

std::string EmbedParameters(const Settings& settings) {
  return ResultSettings(settings,
                        {"input", "graph", "partition", "sample", "embed", "snapshot"});
}

std::string TrainParameters(const Settings& settings) {
  return "input.label = " + settings.input.label +
         "\ninput.label_time = " + settings.input.label_time +
         "\nrun.seed = " + std::to_string(settings.run.seed) + "\n" +
         ResultSettings(settings, {"train"});
}

std::vector<InputRecord> WithoutLog(std::vector<InputRecord> inputs) {
  std::erase_if(inputs, [](const InputRecord& input) { return input.role == kEdges; });
  return inputs;
}

arrow::Result<Fingerprints> ComputeFingerprints(const Settings& settings,
                                                const Manifest& known, bool known_first,
                                                const PartRecord* log_of) {
  const InputOptions& input = settings.input;
  Fingerprints prints;
  if (log_of == nullptr) {
    ARROW_RETURN_NOT_OK(
        Identify(input.edges, kEdges, known, known_first, &prints.embed_inputs));
  } else {
    std::ranges::copy_if(log_of->inputs, std::back_inserter(prints.embed_inputs),
                         [](const InputRecord& record) { return record.role == kEdges; });
  }
  ARROW_RETURN_NOT_OK(
      Identify(input.features, kFeatures, known, known_first, &prints.embed_inputs));
  ARROW_RETURN_NOT_OK(Identify(input.feature_updates, kUpdates, known, known_first,
                               &prints.embed_inputs));
  ARROW_RETURN_NOT_OK(
      Identify(input.labels, kLabels, known, known_first, &prints.train_inputs));
  if (settings.snapshot.nodes == SnapshotNodes::kLabelled) {
    prints.embed_inputs.insert(prints.embed_inputs.end(), prints.train_inputs.begin(),
                               prints.train_inputs.end());
  }
  if (settings.train.split_by == SplitKind::kFile) {
    ARROW_RETURN_NOT_OK(
        Identify(input.split, kSplit, known, known_first, &prints.train_inputs));
  }
  prints.embed = Hash(std::string(kVersion) + "\n" + EmbedParameters(settings) +
                      Contents(prints.embed_inputs));
  if (!prints.train_inputs.empty()) {
    prints.train = Hash(prints.embed + "\n" + TrainParameters(settings) +
                        Contents(prints.train_inputs));
  }
  return prints;
}

arrow::Status CheckInputsStay(const Settings& settings,
                              const std::vector<InputRecord>& inputs) {
  const InputOptions& input = settings.input;
  const std::pair<std::string_view, const std::string&> paths[] = {
      {kEdges, input.edges},
      {kFeatures, input.features},
      {kUpdates, input.feature_updates},
      {kLabels, input.labels},
      {kSplit, input.split}};
  for (const auto& [role, path] : paths) {
    const auto has_role = [&](const InputRecord& known) { return known.role == role; };
    if (std::none_of(inputs.begin(), inputs.end(), has_role)) continue;
    const std::string shown = MaskCredentials(path);
    ARROW_ASSIGN_OR_RAISE(const Location location, OpenLocation(path));
    ARROW_ASSIGN_OR_RAISE(const auto files, ListParquetFiles(location, shown, {}));
    std::map<std::string_view, const ParquetSource::File*> now;
    for (const ParquetSource::File& file : files) now[file.name] = &file;
    for (const InputRecord& known : inputs) {
      if (known.role != role) continue;
      const auto found = now.find(known.name);
      if (found != now.end() && found->second->size == known.size &&
          found->second->modified == known.modified) {
        continue;
      }
      return UnavailableError(
          "an input changed while it was read; leave it alone and run again: '", shown,
          "', file '", known.name, "'");
    }
  }
  return arrow::Status::OK();
}

InputChange CompareInputs(const std::vector<InputRecord>& before,
                          const std::vector<InputRecord>& now) {
  const auto of = [](const InputRecord& input) {
    return "'" + input.name + "' of `input." + input.role + "`";
  };
  const auto in = [](const std::vector<InputRecord>& inputs, const InputRecord& input) {
    return std::find_if(inputs.begin(), inputs.end(), [&](const InputRecord& other) {
      return other.role == input.role && other.name == input.name;
    });
  };
  InputChange change;
  for (const InputRecord& input : now) {
    if (in(before, input) != before.end()) continue;
    change.grown = true;
    if (input.role == kLabels)
      change.lost = of(input) + " is new and would choose other rows of the snapshots";
  }
  for (const InputRecord& old : before) {
    const auto same = in(now, old);
    if (same == now.end()) {
      change.lost = of(old) + " is no longer there";
    } else if (same->xxh3 != old.xxh3 && old.role == kLabels) {
      change.lost = of(old) + " chooses the rows of the snapshots and has changed";
    } else if (same->xxh3 != old.xxh3) {
      change.grown = true;
      change.verify_log = change.verify_log || old.role == kEdges;
    }
  }
  return change;
}

std::string InputFingerprint(const std::vector<InputRecord>& inputs) {
  std::vector<InputRecord> read;
  std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(read),
               [](const InputRecord& input) { return input.role != kLabels; });
  return Hash(Contents(read));
}

std::vector<InputRecord> UsedInputs(const std::vector<InputRecord>& inputs,
                                    std::span<const LogSegment> segments) {
  std::set<std::string_view> used;
  for (const LogSegment& segment : segments) used.insert(segment.file);
  std::vector<InputRecord> kept;
  std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(kept),
               [&](const InputRecord& input) {
                 return input.role != kEdges || used.contains(input.name);
               });
  return kept;
}

std::vector<std::string> EdgeFiles(const std::vector<InputRecord>& inputs,
                                   std::span<const LogSegment> segments) {
  std::vector<std::string> names;
  std::set<std::string> known;
  const auto add = [&](const std::string& name) {
    if (known.insert(name).second) names.push_back(name);
  };
  for (const LogSegment& segment : segments) add(segment.file);
  for (const InputRecord& input : inputs) {
    if (input.role == kEdges) add(input.name);
  }
  return names;
}

std::string DifferingSettings(std::string_view now, std::string_view before) {
  const std::vector<SettingLine> old = ReadSettingLines(before);
  std::string keys;
  for (const auto& [key, value] : ReadSettingLines(now)) {
    const auto found = std::find_if(
        old.begin(), old.end(), [&](const SettingLine& line) { return line.key == key; });
    const bool same =
        found != old.end() && (found->value == value || GoesOn(key, value, found->value));
    if (!same) keys += (keys.empty() ? "" : ", ") + key;
  }
  return keys;
}

}  // namespace coden
