#include "coden/state/fingerprint.h"

#include <filesystem>

#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

class FingerprintTest : public ::testing::Test {
 protected:
  FingerprintTest() {
    WriteLog("[1, 2, 3, 4]");
    WriteLabels("[7, 8]");
    WriteParquet(
        folder_ / "in/features.parquet",
        *TableOf({{"node", ArrayOf(arrow::int64(), "[1, 2]")},
                  {"x", ArrayOf(arrow::list(arrow::float32()), "[[0.5, 1], [2, 3]]")}}));
    settings_.run.directory = folder_ / "run";
    Use("in");
  }

  void WriteLog(const std::string& src) {
    WriteIntegers(folder_ / "in/edges.parquet",
                  {{"src", src}, {"dst", "[5, 6, 7, 8]"}, {"time", "[1, 2, 3, 4]"}});
  }
  void WriteLabels(const std::string& labels) {
    WriteIntegers(folder_ / "in/labels.parquet", {{"node", "[1, 2]"}, {"label", labels}});
  }

  // Take the inputs from `place`.
  void Use(const std::string& place) {
    settings_.input.edges = folder_ / (place + "/edges.parquet");
    settings_.input.features = folder_ / (place + "/features.parquet");
    settings_.input.labels = folder_ / (place + "/labels.parquet");
  }

  Fingerprints Compute() const { return Compute(settings_); }
  static Fingerprints Compute(const Settings& settings) {
    const auto prints = ComputeFingerprints(settings);
    EXPECT_TRUE(prints.ok()) << prints.status().ToString();
    return prints.ValueOr(Fingerprints{});
  }

  // Which of `input`, `embed` and `train` differ.
  static std::string Changed(const Fingerprints& from, const Fingerprints& to) {
    std::string changed;
    if (InputFingerprint(from.embed_inputs) != InputFingerprint(to.embed_inputs))
      changed += "input ";
    if (from.embed != to.embed) changed += "embed ";
    if (from.train != to.train) changed += "train ";
    return changed;
  }

  // Expect that each of `values`, set alone, changes `expected`.
  void CheckSettings(const Values& values, const std::string& expected) {
    const Fingerprints before = Compute();
    for (const auto& [key, value] : values) {
      SCOPED_TRACE(key);
      Settings settings = settings_;
      CODEN_EXPECT_OK(Set(settings, key, value));
      EXPECT_EQ(Changed(before, Compute(settings)), expected);
    }
  }

  TempDir folder_;
  Settings settings_;
};

TEST_F(FingerprintTest, InputsThatAreWrittenAnewDoNotStay) {
  const std::string log = settings_.input.edges;
  settings_.input.edges = folder_ / "in";
  settings_.input.features.clear();
  settings_.input.labels.clear();
  std::filesystem::remove(folder_ / "in/features.parquet");
  std::filesystem::remove(folder_ / "in/labels.parquet");
  const auto inputs = Compute().embed_inputs;
  CODEN_EXPECT_OK(CheckInputsStay(settings_, inputs));
  WriteIntegers(folder_ / "in/more.parquet",
                {{"src", "[1]"}, {"dst", "[2]"}, {"time", "[5]"}});
  CODEN_EXPECT_OK(CheckInputsStay(settings_, inputs));
  // The same bytes, but nobody can know which ones were read.
  std::filesystem::last_write_time(log, std::filesystem::file_time_type::min());
  const auto expect_changed = [&] {
    const std::string message = CheckInputsStay(settings_, inputs).message();
    EXPECT_TRUE(message.starts_with("an input changed while it was read")) << message;
    EXPECT_NE(message.find("'edges.parquet'"), message.npos) << message;
  };
  expect_changed();
  std::filesystem::remove(log);
  expect_changed();
}

TEST_F(FingerprintTest, AreSixteenDigitsAndTheSameEveryTime) {
  const Fingerprints prints = Compute();
  for (const std::string& print :
       {InputFingerprint(prints.embed_inputs), prints.embed, prints.train}) {
    EXPECT_EQ(print.size(), 16u);
    EXPECT_EQ(print.find_first_not_of("0123456789abcdef"), std::string::npos) << print;
  }
  EXPECT_EQ(Changed(prints, Compute()), "");
}

TEST_F(FingerprintTest, IgnoreWhatCannotChangeAResult) {
  CheckSettings({{"run.threads", "3"},
                 {"run.memory_limit", "1000000"},
                 {"run.directory", folder_ / "elsewhere"},
                 {"input.batch_rows", "17"},
                 {"report.html", "false"},
                 {"report.format", "csv"}},
                "");
}

TEST_F(FingerprintTest, FollowTheSettingsOfTheEmbedding) {
  CheckSettings({{"input.src", "from"},
                 {"graph.events", "toggle"},
                 {"graph.directed", "true"},
                 {"graph.window", "5"},
                 {"partition.initial", "0.25"},
                 {"partition.predictions", "3"},
                 {"sample.bound", "paper"},
                 {"sample.lambda", "0.125"},
                 {"sample.max_per_interval", "4"},
                 {"embed.alpha", "0.375"},
                 {"embed.epsilon", "1e-9"},
                 {"embed.propagation", "symmetric"},
                 {"embed.columns", "0:1"},
                 {"snapshot.layout", "fixed"},
                 {"snapshot.nodes", "labelled"},
                 {"snapshot.compression", "none"}},
                "embed train ");
}

TEST_F(FingerprintTest, SettingsOfTheTrainingChangeOnlyTrain) {
  CheckSettings({{"train.model", "coden-s"},
                 {"train.states", "3"},
                 {"train.hidden", "17"},
                 {"train.layers", "5"},
                 {"train.epochs", "7"},
                 {"train.learning_rate", "0.0625"},
                 {"train.batch", "19"},
                 {"train.dropout", "0.375"},
                 {"train.weight_decay", "0.125"},
                 {"train.patience", "11"},
                 {"train.runs", "13"},
                 {"run.seed", "5"}},
                "train ");
}

TEST_F(FingerprintTest, RandomFeaturesHaveASeedOfTheirOwn) {
  CheckSettings({{"input.random_seed", "5"}}, "");  // features come from a file
  settings_.input.features.clear();
  settings_.input.random_features = 8;
  CheckSettings({{"input.random_seed", "5"}, {"input.random_features", "9"}},
                "embed train ");
  CheckSettings({{"run.seed", "5"}}, "train ");
}

TEST_F(FingerprintTest, PartsRecordEverySettingByItsFullKey) {
  for (const std::string& text :
       {EmbedParameters(settings_), TrainParameters(settings_)}) {
    std::string again;
    for (const auto& [key, value] : ReadSettingLines(text)) {
      EXPECT_TRUE(FindSetting(key).ok()) << key;
      again += key + " = " + value + "\n";
    }
    EXPECT_EQ(again, text);
  }
}

TEST_F(FingerprintTest, AMovedFolderIsTheSame) {
  const Fingerprints before = Compute();
  std::filesystem::rename(folder_ / "in", folder_ / "moved/there");
  Use("moved/there");
  EXPECT_EQ(Changed(before, Compute()), "");
}

TEST_F(FingerprintTest, AChangedLogIsNot) {
  const Fingerprints before = Compute();
  const auto size = std::filesystem::file_size(settings_.input.edges);
  // The same size, the same smallest and largest value.
  WriteLog("[1, 3, 2, 4]");
  EXPECT_EQ(std::filesystem::file_size(settings_.input.edges), size);
  EXPECT_EQ(Changed(before, Compute()), "input embed train ");
  WriteLog("[1, 2, 3, 4]");
  EXPECT_EQ(Changed(before, Compute()), "");
}

TEST_F(FingerprintTest, EveryInputCounts) {
  const Fingerprints before = Compute();
  Settings settings = settings_;
  settings.input.features.clear();
  EXPECT_EQ(Changed(before, Compute(settings)), "input embed train ");
  settings = settings_;
  settings.input.feature_updates =
      WriteIntegers(folder_ / "in/updates.parquet", {{"node", "[1]"}, {"time", "[2]"}});
  EXPECT_EQ(Changed(before, Compute(settings)), "input embed train ");
}

TEST_F(FingerprintTest, AFileMoreInAFolderCounts) {
  WriteIntegers(folder_ / "log/part-1.parquet", {{"src", "[1]"}});
  settings_.input.edges = folder_ / "log";
  const Fingerprints before = Compute();
  folder_.Write("log/_SUCCESS", "");
  EXPECT_EQ(Changed(before, Compute()), "");
  WriteIntegers(folder_ / "log/part-2.parquet", {{"src", "[2]"}});
  EXPECT_EQ(Changed(before, Compute()), "input embed train ");
}

TEST_F(FingerprintTest, LabelsMatterToTheEmbeddingOnlyWhereTheyChooseRows) {
  for (const auto& [nodes, expected] :
       Values{{"all", "train "}, {"labelled", "embed train "}}) {
    SCOPED_TRACE(nodes);
    CODEN_EXPECT_OK(Set(settings_, "snapshot.nodes", nodes));
    WriteLabels("[7, 8]");
    const Fingerprints before = Compute();
    WriteLabels("[7, 9]");
    EXPECT_EQ(Changed(before, Compute()), expected);
  }
}

TEST_F(FingerprintTest, WithoutLabelsThereIsNothingToTrain) {
  const Fingerprints before = Compute();
  settings_.input.labels.clear();
  const Fingerprints after = Compute();
  EXPECT_EQ(after.train, "");
  EXPECT_EQ(Changed(before, after), "train ");
}

TEST_F(FingerprintTest, AMissingInputIsRefused) {
  settings_.input.edges = folder_ / "in/none.parquet";
  ExpectInputErrorWith(ComputeFingerprints(settings_), "no such file or directory");
}

TEST_F(FingerprintTest, ParametersAreTheSettingsThatDecideTheNumbers) {
  const std::string text = EmbedParameters(settings_);
  EXPECT_NE(text.find("embed.alpha = "), std::string::npos) << text;
  for (const std::string key : {"input.edges", "input.batch_rows", "run.", "train."}) {
    EXPECT_EQ(text.find(key), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace coden
