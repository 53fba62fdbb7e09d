#include "coden/store/manifest.h"

#include <xxhash.h>

#include <cstdio>
#include <fstream>

#include <nlohmann/json.hpp>

#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

using nlohmann::json;

PartRecord Part(const std::string& name, const std::string& fingerprint) {
  PartRecord part;
  part.name = name;
  part.fingerprint = fingerprint;
  part.parameters = "embed.alpha = 0.2\ninput.src = \"quoted\"\n";
  part.figures = {{"read", "5 rows", "4 edges", 0.25}, {"embed", "ü", "", 1e-9}};
  part.notes = {"1 self-loop dropped", "2 rows merged"};
  part.files = {{"schedule.parquet", 5'000'000'000, 12, "00ff00ff00ff00ff"},
                {"state/nodes.parquet", 7, 0, "0123456789abcdef"}};
  return part;
}

void ExpectEqual(const PartRecord& actual, const PartRecord& expected) {
  EXPECT_EQ(actual.name, expected.name);
  EXPECT_EQ(actual.fingerprint, expected.fingerprint);
  EXPECT_EQ(actual.parameters, expected.parameters);
  EXPECT_EQ(actual.notes, expected.notes);
  ASSERT_EQ(actual.figures.size(), expected.figures.size());
  for (std::size_t i = 0; i < expected.figures.size(); ++i) {
    EXPECT_EQ(actual.figures[i].name, expected.figures[i].name);
    EXPECT_EQ(actual.figures[i].taken, expected.figures[i].taken);
    EXPECT_EQ(actual.figures[i].given, expected.figures[i].given);
    EXPECT_EQ(actual.figures[i].seconds, expected.figures[i].seconds);
  }
  ASSERT_EQ(actual.files.size(), expected.files.size());
  for (std::size_t i = 0; i < expected.files.size(); ++i) {
    EXPECT_EQ(actual.files[i].path, expected.files[i].path);
    EXPECT_EQ(actual.files[i].size, expected.files[i].size);
    EXPECT_EQ(actual.files[i].rows, expected.files[i].rows);
    EXPECT_EQ(actual.files[i].xxh3, expected.files[i].xxh3);
  }
}

class ManifestTest : public ::testing::Test {
 protected:
  // The manifest that is loaded; number -1 with a failure where there is none.
  Manifest Load() {
    const auto manifest = LoadManifest(layout_);
    EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
    EXPECT_TRUE(manifest.ok() && manifest->has_value());
    return manifest.ok() && manifest->has_value() ? **manifest : Manifest{-1, {}};
  }

  bool IsNothing() {
    const auto manifest = LoadManifest(layout_);
    EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
    return manifest.ok() && !manifest->has_value();
  }

  // Publish a manifest of one part under number + 1.
  arrow::Status Publish(int number, const std::string& fingerprint) {
    Manifest manifest{number, {Part("embed", fingerprint)}};
    return PublishManifest(layout_, &manifest);
  }

  // Expect that a first manifest of this text is refused as damaged.
  void CheckDamaged(const std::string& text, const std::string& part) {
    SCOPED_TRACE(text);
    const std::string path = folder_.Write("_coden/manifest-000001.json", text);
    const auto manifest = LoadManifest(layout_);
    ASSERT_FALSE(manifest.ok());
    EXPECT_EQ(FaultOf(manifest.status()), Fault::kCorruption);
    const std::string& message = manifest.status().message();
    EXPECT_NE(message.find("'" + path + "'"), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  TempDir folder_;
  RunLayout layout_{folder_.path()};
};

TEST_F(ManifestTest, ThereIsNoneAtFirst) {
  EXPECT_TRUE(IsNothing());
  layout_.directory += "/not/there";
  EXPECT_TRUE(IsNothing());
}

TEST_F(ManifestTest, IsReadBackAsItWasPublished) {
  Manifest manifest;
  manifest.parts = {Part("embed", "a"), Part("train", "b")};
  manifest.parts[1].figures.clear();
  manifest.parts[1].notes.clear();
  manifest.parts[1].files.clear();
  CODEN_EXPECT_OK(PublishManifest(layout_, &manifest));
  EXPECT_EQ(manifest.number, 1);
  const Manifest loaded = Load();
  EXPECT_EQ(loaded.number, 1);
  ASSERT_EQ(loaded.parts.size(), 2u);
  ExpectEqual(loaded.parts[0], manifest.parts[0]);
  ExpectEqual(loaded.parts[1], manifest.parts[1]);
  EXPECT_TRUE(std::filesystem::is_empty(layout_.Path(RunLayout::kStage)));
}

TEST_F(ManifestTest, WithoutPartsIsStillAManifest) {
  Manifest manifest;
  CODEN_EXPECT_OK(PublishManifest(layout_, &manifest));
  EXPECT_EQ(Load().number, 1);
  EXPECT_TRUE(Load().parts.empty());
}

TEST_F(ManifestTest, TheHighestNumberCounts) {
  for (int number = 0; number < 12; ++number) {
    CODEN_EXPECT_OK(Publish(number, "print " + std::to_string(number + 1)));
    EXPECT_EQ(Load().number, number + 1);
    EXPECT_EQ(Load().parts.at(0).fingerprint, "print " + std::to_string(number + 1));
  }
  // The earlier ones are kept, and one that is missing does not matter.
  EXPECT_TRUE(std::filesystem::remove(folder_ / "_coden/manifest-000007.json"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "_coden/manifest-000001.json"));
  EXPECT_EQ(Load().number, 12);
}

TEST_F(ManifestTest, OtherFilesDoNotCount) {
  const std::string others[] = {"settings.ini",          "manifest-000009.json.tmp",
                                "manifest-9.json",       "manifest-.json",
                                "manifest-0000009.json", "manifest-00000x.json",
                                "manifest-+00009.json",  "old-manifest-000009.json",
                                "MANIFEST-000009.json",  "stage/manifest-000009.json"};
  for (const std::string& name : others) folder_.Write("_coden/" + name, "{}");
  EXPECT_TRUE(IsNothing());
  CODEN_EXPECT_OK(Publish(2, "a"));
  EXPECT_EQ(Load().number, 3);
}

TEST_F(ManifestTest, ALeftoverOfAKilledRunIsReplaced) {
  folder_.Write("_coden/stage/manifest.json", std::string(10'000, '['));
  EXPECT_TRUE(IsNothing());
  CODEN_EXPECT_OK(Publish(0, "a"));
  EXPECT_EQ(Load().parts.at(0).fingerprint, "a");
}

TEST_F(ManifestTest, TextThatIsNotAManifestIsCorruption) {
  const std::string damaged = "' is damaged; run with --force to rebuild: ";
  for (const std::string text :
       {"", "{", "[]", "null", "7", "{}", R"({"format_version": 1})", R"({"parts": []})",
        R"({"format_version": 1, "parts": [7]})",
        R"({"format_version": 1, "parts": 7})"}) {
    CheckDamaged(text, damaged);
  }
  const std::string unknown = "' has a format this version does not know: ";
  CheckDamaged(R"({"format_version": 2, "parts": []})", unknown + "2");
  CheckDamaged(R"({"format_version": "1", "parts": []})", unknown + "\"1\"");
}

TEST_F(ManifestTest, AMissingKeyOrAWrongTypeIsCorruption) {
  CODEN_EXPECT_OK(Publish(0, "a"));
  json whole;
  std::ifstream(folder_ / "_coden/manifest-000001.json") >> whole;
  const json::json_pointer objects[] = {json::json_pointer("/parts/0"),
                                        json::json_pointer("/parts/0/figures/1"),
                                        json::json_pointer("/parts/0/files/0")};
  int keys = 0;
  for (const auto& object : objects) {
    for (const auto& entry : whole[object].items()) {
      ++keys;
      json changed = whole;
      changed[object].erase(entry.key());
      CheckDamaged(changed.dump(), "key '" + entry.key() + "' not found");
      changed = whole;
      changed[object][entry.key()] = json::array({json::array()});
      CheckDamaged(changed.dump(), "type");
    }
  }
  EXPECT_EQ(keys, 6 + 4 + 4);
}

TEST_F(ManifestTest, ACutFileIsCorruption) {
  CODEN_EXPECT_OK(Publish(0, "a"));
  std::ifstream file(folder_ / "_coden/manifest-000001.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t size = 0; size + 2 < text.size(); size += text.size() / 20) {
    CheckDamaged(text.substr(0, size), "is damaged");
  }
}

TEST_F(ManifestTest, ANumberIsPublishedOnce) {
  CODEN_EXPECT_OK(Publish(0, "first"));
  Manifest late{0, {Part("embed", "second")}};
  const arrow::Status status = PublishManifest(layout_, &late);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "another process is writing to '" + folder_.path() +
                                  "': it published '" +
                                  (folder_ / "_coden/manifest-000001.json") + "' first");
  EXPECT_EQ(late.number, 0);
  EXPECT_EQ(Load().number, 1);
  EXPECT_EQ(Load().parts.at(0).fingerprint, "first");
  late.number = 1;
  CODEN_EXPECT_OK(PublishManifest(layout_, &late));
  EXPECT_EQ(Load().parts.at(0).fingerprint, "second");
}

TEST_F(ManifestTest, ReplaceKeepsOneRecordPerPart) {
  Manifest manifest;
  EXPECT_EQ(manifest.Find("embed"), nullptr);
  manifest.Replace(Part("embed", "a"));
  manifest.Replace(Part("train", "b"));
  manifest.Replace(Part("embed", "c"));
  ASSERT_EQ(manifest.parts.size(), 2u);
  ASSERT_NE(manifest.Find("embed"), nullptr);
  EXPECT_EQ(manifest.Find("embed")->fingerprint, "c");
  EXPECT_EQ(manifest.Find("train")->fingerprint, "b");
  EXPECT_EQ(manifest.Find("emb"), nullptr);
}

TEST_F(ManifestTest, DescribesFilesOfTheRun) {
  const std::string bytes = "{\"a\": 1}\n";
  folder_.Write("model/config.json", bytes);
  const FileRecord text = DescribeFile(layout_, "model/config.json").ValueOrDie();
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(bytes.data(), bytes.size())));
  EXPECT_EQ(text.path, "model/config.json");
  EXPECT_EQ(text.size, static_cast<std::int64_t>(bytes.size()));
  EXPECT_EQ(text.rows, 0);
  EXPECT_EQ(text.xxh3, digits);

  const auto batch =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("a", arrow::int64())}), 3,
                               {ArrayOf(arrow::int64(), "[1, 2, 3]")});
  const FileRecord written = WriteParquetFile(folder_ / "metrics.parquet",
                                              folder_ / "_coden/stage/m.parquet", *batch)
                                 .ValueOrDie();
  const FileRecord found = DescribeFile(layout_, RunLayout::kMetrics).ValueOrDie();
  EXPECT_EQ(found.path, RunLayout::kMetrics);
  EXPECT_EQ(found.size, written.size);
  EXPECT_EQ(found.rows, 3);
  EXPECT_EQ(found.xxh3, written.xxh3);
  EXPECT_FALSE(DescribeFile(layout_, "none.parquet").ok());
}

}  // namespace
}  // namespace coden
