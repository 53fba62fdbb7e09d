#include "coden/store/manifest.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "coden/store/commit.h"
#include "coden/store/run_layout.h"
#include "coden/store/sealed_text.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

using nlohmann::json;

PartRecord Part(const std::string& name, const std::string& fingerprint) {
  PartRecord part;
  part.name = name;
  part.complete = name != "embed";
  part.version = "0.1.0";
  part.fingerprint = fingerprint;
  part.parameters = "embed.alpha = 0.2\ninput.src = \"quoted\"\n";
  part.figures = {{"read",
                   "5 rows",
                   "4 edges",
                   0.25,
                   7,
                   {{"edges", 4}, {"rows", 5'000'000'000}},
                   {{"error_bound", 1e-7}}},
                  {"embed", "ü", "", 1e-9}};
  part.notes = {"1 self-loop dropped", "2 rows merged"};
  part.inputs = {{"edges", "2024/a.parquet", 9, 1'700'000'000'123'456'789, "00ff"},
                 {"labels", "b.parquet", 10, 0, "11ff"}};
  part.files = {{"schedule.parquet", 5'000'000'000, 12, "00ff00ff00ff00ff"},
                {"state/nodes.parquet", 7, 0, "0123456789abcdef"}};
  return part;
}

void ExpectEqual(const PartRecord& actual, const PartRecord& expected) {
  EXPECT_EQ(actual.name, expected.name);
  EXPECT_EQ(actual.complete, expected.complete);
  EXPECT_EQ(actual.version, expected.version);
  EXPECT_EQ(actual.fingerprint, expected.fingerprint);
  EXPECT_EQ(actual.parameters, expected.parameters);
  EXPECT_EQ(actual.notes, expected.notes);
  EXPECT_EQ(actual.inputs, expected.inputs);
  ASSERT_EQ(actual.figures.size(), expected.figures.size());
  for (std::size_t i = 0; i < expected.figures.size(); ++i) {
    EXPECT_EQ(actual.figures[i].name, expected.figures[i].name);
    EXPECT_EQ(actual.figures[i].taken, expected.figures[i].taken);
    EXPECT_EQ(actual.figures[i].given, expected.figures[i].given);
    EXPECT_EQ(actual.figures[i].seconds, expected.figures[i].seconds);
    EXPECT_EQ(actual.figures[i].peak_bytes, expected.figures[i].peak_bytes);
    EXPECT_EQ(actual.figures[i].counts, expected.figures[i].counts);
    EXPECT_EQ(actual.figures[i].measures, expected.figures[i].measures);
  }
  ASSERT_EQ(actual.files.size(), expected.files.size());
  for (std::size_t i = 0; i < expected.files.size(); ++i) {
    EXPECT_EQ(actual.files[i].path, expected.files[i].path);
    EXPECT_EQ(actual.files[i].size, expected.files[i].size);
    EXPECT_EQ(actual.files[i].rows, expected.files[i].rows);
    EXPECT_EQ(actual.files[i].xxh3, expected.files[i].xxh3);
    EXPECT_EQ(actual.files[i].staged, expected.files[i].staged);
  }
}

class ManifestTest : public ::testing::Test {
 protected:
  // The manifest that is loaded; number -1 with a failure where there is none.
  Manifest Load() {
    const auto manifest = LoadManifest(*store_);
    EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
    EXPECT_TRUE(manifest.ok() && manifest->has_value());
    return manifest.ok() && manifest->has_value() ? **manifest : Manifest{-1, {}};
  }

  bool IsNothing() {
    const auto manifest = LoadManifest(*store_);
    EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
    return manifest.ok() && !manifest->has_value();
  }

  // Publish a manifest of one part under number + 1.
  arrow::Status Publish(int number, const std::string& fingerprint) {
    Manifest current{number, {}};
    return Commit(*store_, {0, {Part("embed", fingerprint)}}, &current);
  }

  // Expect that a first manifest of this text is refused as damaged, without a checksum
  // and, for the reason `part`, with the right one.
  void CheckDamaged(const std::string& text, const std::string& part) {
    CheckRefused(text, "carries no checksum");
    if (text.starts_with('{')) CheckRefused(Sealed(text), part);
  }
  static std::string Sealed(const std::string& text) {
    // The line of the checksum comes after the first one.
    return SealJson("{\n" + text.substr(1));
  }
  void CheckRefused(const std::string& text, const std::string& part) {
    SCOPED_TRACE(text);
    const std::string path = folder_.Write("_coden/manifest-000001.json", text);
    const auto manifest = LoadManifest(*store_);
    ASSERT_FALSE(manifest.ok());
    EXPECT_EQ(FaultOf(manifest.status()), Fault::kCorruption);
    const std::string& message = manifest.status().message();
    EXPECT_NE(message.find("'" + path + "'"), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  TempDir folder_;
  std::shared_ptr<RunStore> store_ = StoreAt(folder_.path());
};

TEST_F(ManifestTest, ThereIsNoneAtFirst) {
  EXPECT_TRUE(IsNothing());
  store_ = RunStore::Open(folder_.path() + "/not/there").ValueOrDie();
  EXPECT_TRUE(IsNothing());
}

TEST_F(ManifestTest, IsReadBackAsItWasPublished) {
  Manifest next{0, {Part("embed", "a"), Part("train", "b")}};
  next.parts[1].figures.clear();
  next.parts[1].notes.clear();
  next.parts[1].inputs.clear();
  next.parts[1].files.clear();
  Manifest manifest;
  CODEN_EXPECT_OK(Commit(*store_, next, &manifest));
  EXPECT_EQ(manifest.number, 1);
  const Manifest loaded = Load();
  EXPECT_EQ(loaded.number, 1);
  ASSERT_EQ(loaded.parts.size(), 2u);
  ExpectEqual(loaded.parts[0], next.parts[0]);
  ExpectEqual(loaded.parts[1], next.parts[1]);
  EXPECT_TRUE(store_->List(RunLayout::kStage).ValueOrDie().empty());
}

TEST_F(ManifestTest, EarlierTrainingsAreNoParts) {
  Manifest next{0, {Part("train", "b")}, {Part("coden-1", "a"), Part("coden-s-2", "c")}};
  Manifest manifest;
  CODEN_EXPECT_OK(Commit(*store_, next, &manifest));
  const Manifest loaded = Load();
  ASSERT_EQ(loaded.parts.size(), 1u);
  ASSERT_EQ(loaded.trainings.size(), 2u);
  for (const std::size_t i : {0, 1}) ExpectEqual(loaded.trainings[i], next.trainings[i]);
  EXPECT_EQ(loaded.Find("coden-1"), nullptr);
  EXPECT_EQ(loaded.AllFiles().size(), 6u);
}

TEST_F(ManifestTest, WithoutPartsIsStillAManifest) {
  Manifest manifest;
  CODEN_EXPECT_OK(Commit(*store_, {}, &manifest));
  EXPECT_EQ(Load().number, 1);
  EXPECT_TRUE(Load().parts.empty());
}

TEST_F(ManifestTest, TheHighestNumberCounts) {
  for (int number = 0; number < 12; ++number) {
    CODEN_EXPECT_OK(Publish(number, "print " + std::to_string(number + 1)));
    EXPECT_EQ(Load().number, number + 1);
    EXPECT_EQ(Load().parts.at(0).fingerprint, "print " + std::to_string(number + 1));
  }
  // The one before stays for a reader that is about to open it.
  EXPECT_EQ(store_->List(RunLayout::kCommits).ValueOrDie(),
            (std::vector<std::string>{ManifestName(11), ManifestName(12)}));
  EXPECT_TRUE(std::filesystem::remove(folder_ / ManifestName(11)));
  EXPECT_EQ(Load().number, 12);
}

TEST_F(ManifestTest, TheNumberIsInTheName) {
  for (const int number : {1, 12, 999'999, 1'000'000, 123'456'789}) {
    EXPECT_EQ(ManifestNumber(ManifestName(number)), number);
  }
  EXPECT_EQ(ManifestName(12), "_coden/manifest-000012.json");
}

TEST_F(ManifestTest, OtherFilesDoNotCount) {
  const std::string others[] = {"settings.ini",
                                "manifest-000009.json.tmp",
                                "manifest-9.json",
                                "manifest-.json",
                                "manifest-00009.json",
                                "manifest-00000x.json",
                                "manifest-+00009.json",
                                "old-manifest-000009.json",
                                "MANIFEST-000009.json",
                                "stage/manifest-000009.json",
                                "manifest-0000000009.json"};
  for (const std::string& name : others) folder_.Write("_coden/" + name, "{}");
  EXPECT_TRUE(IsNothing());
  CODEN_EXPECT_OK(Publish(2, "a"));
  EXPECT_EQ(Load().number, 3);
}

TEST_F(ManifestTest, ALeftoverOfAKilledRunIsReplaced) {
  folder_.Write(store_->StageName(ManifestName(1)), std::string(10'000, '['));
  EXPECT_TRUE(IsNothing());
  CODEN_EXPECT_OK(Publish(0, "a"));
  EXPECT_EQ(Load().parts.at(0).fingerprint, "a");
}

TEST_F(ManifestTest, TextThatIsNotAManifestIsCorruption) {
  const std::string damaged = "' is damaged; run with --force to rebuild: ";
  for (const std::string text :
       {"", "{", "[]", "null", "7", "{}", R"({"format_version": 5})", R"({"parts": []})",
        R"({"format_version": 5, "parts": [7]})",
        R"({"format_version": 5, "parts": 7})"}) {
    CheckDamaged(text, damaged);
  }
  const std::string unknown =
      "' has a format this version does not know; run with --force to rebuild: ";
  CheckDamaged(R"({"format_version": 1, "parts": []})", unknown + "1");
  CheckDamaged(R"({"format_version": "4", "parts": []})", unknown + "\"4\"");
}

TEST_F(ManifestTest, AMissingKeyOrAWrongTypeIsCorruption) {
  Manifest staged{1, {Part("embed", "a")}};
  staged.parts[0].files[0].staged = "_coden/stage/1/schedule.parquet";
  const json whole = json::parse(UnsealJson(ManifestText(staged), "it").ValueOrDie());
  const json::json_pointer objects[] = {
      json::json_pointer("/parts/0"), json::json_pointer("/parts/0/figures/1"),
      json::json_pointer("/parts/0/inputs/0"), json::json_pointer("/parts/0/files/0")};
  int keys = 0;
  for (const auto& object : objects) {
    for (const auto& entry : whole[object].items()) {
      ++keys;
      json changed = whole;
      changed[object].erase(entry.key());
      if (entry.key() != "staged")
        CheckDamaged(changed.dump(), "key '" + entry.key() + "' not found");
      changed = whole;
      changed[object][entry.key()] = json::array({json::array()});
      CheckDamaged(changed.dump(), "type");
    }
  }
  EXPECT_EQ(keys, 10 + 4 + 5 + 5);
}

TEST_F(ManifestTest, NumbersOfAStageMayBeLeftOutAndMustBeNumbers) {
  const Manifest made{1, {Part("embed", "a")}};
  const json whole = json::parse(UnsealJson(ManifestText(made), "it").ValueOrDie());
  const json::json_pointer figure("/parts/0/figures/0");
  for (const std::string key : {"counts", "measures"}) {
    for (const json& wrong : {json(1), json::array({1}), json{{"rows", "5"}}}) {
      json changed = whole;
      changed[figure][key] = wrong;
      CheckDamaged(changed.dump(), "type");
    }
  }
  json fraction = whole;
  fraction[figure]["counts"]["rows"] = 0.5;
  CheckDamaged(fraction.dump(), "a whole number");
}

TEST_F(ManifestTest, ANameThatLeadsOutOfTheRunIsCorruption) {
  Manifest staged{1, {Part("embed", "a")}};
  staged.parts[0].files[0].staged = "_coden/stage/1/schedule.parquet";
  const json whole = json::parse(UnsealJson(ManifestText(staged), "it").ValueOrDie());
  for (const std::string key : {"path", "staged"}) {
    for (const std::string name :
         {"", "/", "/etc/passwd", "..", "../other/schedule.parquet", "a/../../b", "a/..",
          ".", "./a", "a/./b", "a//b", "a/", "a\\b", "..\\a", "C:\\a"}) {
      json changed = whole;
      changed["parts"][0]["files"][0][key] = name;
      CheckDamaged(changed.dump(), "a name leads out of the run");
    }
    json changed = whole;
    changed["parts"][0]["files"][0][key] = std::string("a\0b", 3);
    CheckDamaged(changed.dump(), "a name leads out of the run");
    // Dots are not steps by themselves.
    changed["parts"][0]["files"][0][key] = "..a/b../...";
    folder_.Write(ManifestName(1), Sealed(changed.dump()));
    EXPECT_EQ(Load().number, 1);
  }
}

TEST_F(ManifestTest, ACutFileIsCorruption) {
  CODEN_EXPECT_OK(Publish(0, "a"));
  std::ifstream file(folder_ / "_coden/manifest-000001.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t size = 0; size + 2 < text.size(); size += text.size() / 20) {
    CheckRefused(text.substr(0, size), "is damaged");
  }
}

TEST_F(ManifestTest, AnyChangedByteIsCorruption) {
  CODEN_EXPECT_OK(Publish(0, "a"));
  std::ifstream file(folder_ / "_coden/manifest-000001.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t place = 0; place < text.size(); place += 7) {
    std::string changed = text;
    changed[place] = static_cast<char>(changed[place] ^ 1);
    CheckRefused(changed, "is damaged");
  }
}

TEST_F(ManifestTest, TheTextOfAnotherManifestIsCorruption) {
  folder_.Write(ManifestName(1), ManifestText({1, {Part("embed", "a")}}));
  EXPECT_EQ(Load().number, 1);
  CheckRefused(ManifestText({7, {Part("embed", "a")}}),
               "is the text of another manifest, number 7");
}

TEST_F(ManifestTest, ANumberIsPublishedOnce) {
  CODEN_EXPECT_OK(Publish(0, "first"));
  Manifest late;
  const Manifest second{0, {Part("embed", "second")}};
  const arrow::Status status = Commit(*store_, second, &late);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "another process is writing to '" + folder_.path() +
                                  "'; wait for it: it published '" +
                                  (folder_ / "_coden/manifest-000001.json") + "' first");
  EXPECT_EQ(late.number, 0);
  EXPECT_EQ(Load().number, 1);
  EXPECT_EQ(Load().parts.at(0).fingerprint, "first");
  late.number = 1;
  CODEN_EXPECT_OK(Commit(*store_, second, &late));
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

TEST_F(ManifestTest, FilesAreFoundAndReplacedByTheirPath) {
  Manifest manifest{1, {Part("embed", "a"), Part("train", "b")}};
  manifest.parts[1].files = {{"metrics.parquet", 1, 2, "3"}};
  EXPECT_EQ(manifest.FindFile("metrics.parquet")->rows, 2);
  EXPECT_EQ(manifest.FindFile("schedule"), nullptr);
  PartRecord& embed = manifest.parts[0];
  embed.ReplaceFile({"schedule.parquet", 8, 13, "4"});
  embed.ReplaceFile({"new.parquet", 9, 14, "5"});
  ASSERT_EQ(embed.files.size(), 3u);
  EXPECT_EQ(embed.files[0].rows, 13);
  EXPECT_EQ(embed.FindFile("new.parquet")->rows, 14);
  EXPECT_EQ(embed.FindFile("metrics.parquet"), nullptr);
}

TEST_F(ManifestTest, APartCanBeLeftOut) {
  Manifest manifest{1, {Part("embed", "a"), Part("train", "b")}};
  EXPECT_TRUE(manifest.Drop("embed"));
  EXPECT_FALSE(manifest.Drop("embed"));
  ASSERT_EQ(manifest.parts.size(), 1u);
  EXPECT_EQ(manifest.parts[0].name, "train");
}

}  // namespace
}  // namespace coden
