#include "coden/settings/settings.h"

#include <gtest/gtest.h>

#include "coden/base/error.h"

namespace coden {
namespace {

void CheckRejected(std::string_view key, std::string_view value,
                   std::string_view message) {
  SCOPED_TRACE(std::string(key) + " = " + std::string(value));
  Settings settings;
  const arrow::Status status = Set(settings, key, value);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message(), message);
  EXPECT_EQ(FaultOf(status), Fault::kUsage);
}

TEST(Settings, EveryDefaultReadsBackAsItself) {
  for (const Setting& setting : AllSettings()) {
    SCOPED_TRACE(setting.key);
    Settings settings;
    ASSERT_TRUE(setting.set(settings, setting.default_text).ok());
    EXPECT_EQ(setting.get(settings), setting.default_text);
  }
}

TEST(Settings, EverySettingStatesItsRuleAndMeaning) {
  for (const Setting& setting : AllSettings()) {
    SCOPED_TRACE(setting.key);
    EXPECT_FALSE(setting.rule.empty());
    EXPECT_TRUE(setting.help.ends_with('.'));
  }
}

TEST(Settings, RejectsWithTheRuleAndTheValueLast) {
  CheckRejected("embed.alpha", "1.5",
                "`embed.alpha` must be a number in [0.001, 1): '1.5'");
  CheckRejected("embed.alpha", "0", "`embed.alpha` must be a number in [0.001, 1): '0'");
  CheckRejected("embed.epsilon", "nan",
                "`embed.epsilon` must be a number in [1e-14, 1]: 'nan'");
  CheckRejected("graph.events", "flip",
                "`graph.events` must be insert, toggle or signed: 'flip'");
  CheckRejected("graph.directed", "yes", "`graph.directed` must be true or false: 'yes'");
  CheckRejected("run.threads", "-1",
                "`run.threads` must be a whole number from 0 to 1024: '-1'");
  CheckRejected(
      "partition.initial", "1.5",
      "`partition.initial` must be a fraction from 0.0 to 1.0 (with its point), or a "
      "time as a whole number: '1.5'");
  CheckRejected(
      "partition.times", "3, 3",
      "`partition.times` must be whole numbers that rise, with commas between them: "
      "'3, 3'");
  CheckRejected(
      "train.split", "0.7/0.2/0.2",
      "`train.split` must be three shares that add up to 1, such as 0.7/0.1/0.2: "
      "'0.7/0.2/0.2'");
  CheckRejected("embed.columns", "8:8",
                "`embed.columns` must be a slice such as 0:32, or empty for all: '8:8'");
}

TEST(Settings, UnknownKeySuggestsTheNearest) {
  CheckRejected(
      "embed.aplha", "0.2",
      "unknown setting `embed.aplha`; the nearest is `embed.alpha` (`coden settings` "
      "lists all)");
  CheckRejected(
      "trian.epochs", "3",
      "unknown setting `trian.epochs`; the nearest is `train.epochs` (`coden settings` "
      "lists all)");
}

TEST(Settings, ANameWithoutItsSectionSuggestsTheSetting) {
  const std::pair<std::string_view, std::string_view> suggestions[] = {
      {"epsilon", "embed.epsilon"},
      {"epsilom", "embed.epsilon"},
      {"input.epsilon", "embed.epsilon"},
      {"directory", "run.directory"},
      {"alpha", "embed.alpha"},
      {"rate", "train.learning_rate"},
      {"train.lambda", "sample.lambda"},
      {"edge", "input.edges"},
      {"seed", "run.seed"},
      {"experiment.dir", "experiment.directory"}};
  for (const auto& [word, key] : suggestions) {
    CheckRejected(word, "1",
                  "unknown setting `" + std::string(word) + "`; the nearest is `" +
                      std::string(key) + "` (`coden settings` lists all)");
  }
}

TEST(Settings, AValueIsOneLine) {
  CheckRejected("input.edges", "a\nb", "`input.edges` must be one line: 'a\nb'");
}

TEST(Settings, TheCommentedFileHasEverySettingAtItsDefault) {
  const auto sections = ParseIni(CommentedIni(), "p.ini").ValueOrDie();
  std::size_t count = 0;
  for (const IniSection& section : sections) {
    for (const IniSetting& setting : section.settings) {
      ++count;
      const auto* known = FindSetting(section.name + "." + setting.name).ValueOrDie();
      EXPECT_EQ(setting.text, known->default_text) << known->key;
    }
  }
  EXPECT_EQ(count, AllSettings().size());
}

TEST(Settings, IniTextReadsBackAsTheSameSettings) {
  Settings settings;
  ASSERT_TRUE(Set(settings, "partition.times", "1,5, 9").ok());
  ASSERT_TRUE(Set(settings, "run.memory_limit", "1.5GB").ok());
  ASSERT_TRUE(Set(settings, "embed.columns", "0:32").ok());
  ASSERT_TRUE(Set(settings, "partition.initial", "0.00001").ok());
  Settings small;
  ASSERT_TRUE(Set(small, "partition.initial",
                  FindSetting("partition.initial").ValueOrDie()->get(settings))
                  .ok());
  EXPECT_EQ(std::get<InitialFraction>(small.partition.initial).fraction, 0.00001);
  ASSERT_TRUE(Set(settings, "partition.initial", "7").ok());
  Settings again;
  for (const Setting& setting : AllSettings()) {
    ASSERT_TRUE(setting.set(again, setting.get(settings)).ok()) << setting.key;
  }
  EXPECT_EQ(ToIni(again), ToIni(settings));
  EXPECT_EQ(again.run.memory_limit, 1'500'000'000);
  EXPECT_EQ(std::get<InitialBefore>(again.partition.initial).time, 7);
}

TEST(Settings, ChecksRulesAcrossSettings) {
  Settings settings;
  settings.graph.directed = true;
  settings.embed.propagation = Propagation::kAverage;
  EXPECT_FALSE(Validate(settings).ok());
  settings.graph.directed = false;
  EXPECT_TRUE(Validate(settings).ok());
  settings.partition.predictions = 3;
  settings.partition.width = 5;
  EXPECT_FALSE(Validate(settings).ok());
}

}  // namespace
}  // namespace coden
