#include "coden/pipeline/fingerprint.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <arrow/buffer.h>
#include <arrow/filesystem/api.h>
#include <arrow/io/interfaces.h>

#include "coden/version.h"

namespace coden {

namespace {

constexpr std::int64_t kChunkBytes = 1 << 20;

std::string Hexadecimal(XXH64_hash_t hash) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

std::string Hash(std::string_view text) {
  return Hexadecimal(XXH3_64bits(text.data(), text.size()));
}

// Hash every byte: a file may change without changing its size or its footer, and hashing
// costs little beside decoding.
arrow::Result<std::string> HashFile(arrow::io::RandomAccessFile& file) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  XXH3_64bits_reset(state.get());
  ARROW_ASSIGN_OR_RAISE(const std::int64_t size, file.GetSize());
  for (std::int64_t offset = 0; offset < size; offset += kChunkBytes) {
    ARROW_ASSIGN_OR_RAISE(const auto chunk, file.ReadAt(offset, kChunkBytes));
    XXH3_64bits_update(state.get(), chunk->data(),
                       static_cast<std::size_t>(chunk->size()));
  }
  return Hexadecimal(XXH3_64bits_digest(state.get()));
}

arrow::Result<std::string> FileIdentity(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto source, ParquetSource::Open(path));
  std::string text;
  for (const auto& file : source->files()) {
    ARROW_ASSIGN_OR_RAISE(const auto input, source->OpenFile(file));
    ARROW_ASSIGN_OR_RAISE(const std::string hash, HashFile(*input));
    text += std::filesystem::path(file.path).filename().string() + " " + hash + "\n";
  }
  return text;
}

// Settings of `sections` as lines, without those that cannot change a result.
std::string ResultSettings(const Settings& settings,
                           std::initializer_list<std::string_view> sections) {
  constexpr std::string_view kNoEffect[] = {
      "input.edges", "input.features",   "input.feature_updates", "input.labels",
      "input.label", "input.label_time", "input.batch_rows"};
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
    text += setting.key + " = " + setting.get(settings) + "\n";
  }
  return text;
}

}  // namespace

std::string EmbedParameters(const Settings& settings) {
  std::string text = ResultSettings(
      settings, {"input", "graph", "partition", "sample", "embed", "snapshot"});
  if (settings.input.random_features > 0) {
    text += "run.seed = " + std::to_string(settings.run.seed) + "\n";
  }
  return text;
}

arrow::Result<Fingerprints> ComputeFingerprints(const Settings& settings) {
  const InputOptions& input = settings.input;
  std::string files;
  for (const std::string* path :
       {&input.edges, &input.features, &input.feature_updates}) {
    if (path->empty()) continue;
    ARROW_ASSIGN_OR_RAISE(const std::string identity, FileIdentity(*path));
    files += identity + "\n";
  }
  std::string labels;
  if (!input.labels.empty()) {
    ARROW_ASSIGN_OR_RAISE(labels, FileIdentity(input.labels));
  }
  const bool labels_choose_rows = settings.snapshot.nodes == SnapshotNodes::kLabelled;

  Fingerprints prints;
  prints.input = Hash(files);
  prints.embed = Hash(std::string(kVersion) + "\n" + EmbedParameters(settings) + files +
                      (labels_choose_rows ? labels : std::string()));
  if (!labels.empty()) {
    prints.train = Hash(prints.embed + "\ninput.label = " + input.label + "\n" +
                        "input.label_time = " + input.label_time + "\n" +
                        "run.seed = " + std::to_string(settings.run.seed) + "\n" +
                        ResultSettings(settings, {"train"}) + labels);
  }
  return prints;
}

}  // namespace coden
