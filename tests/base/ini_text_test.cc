#include "coden/base/ini_text.h"

#include <random>

#include <gtest/gtest.h>

#include "coden/base/error.h"
#include "coden/settings/settings.h"
#include "pipeline/saved_settings_internal.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

std::string TextOf(const std::string& line) {
  const auto sections = ParseIni("[s]\n" + line + "\n", "p.ini");
  EXPECT_TRUE(sections.ok()) << sections.status();
  return sections.ok() ? std::string(FindIniSetting(*sections, "s", "a")) : "";
}

void CheckRefused(std::string_view text, std::string_view message) {
  SCOPED_TRACE(text);
  const auto status = ParseIni(text, "p.ini").status();
  EXPECT_EQ(status.message(), message);
  EXPECT_EQ(FaultOf(status), Fault::kUsage);
}

TEST(IniText, ReadsSectionsAndSettingsWithTheirLines) {
  const auto sections =
      ParseIni(
          "\xef\xbb\xbf# note\r\n[run] ; x\r\nseed=7\r\n\r\n[ input ]\n a = b = c\n"
          "[run]\nthreads = 2",
          "p.ini")
          .ValueOrDie();
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].name, "run");
  EXPECT_EQ(sections[0].line, 2);
  ASSERT_EQ(sections[0].settings.size(), 2u);
  EXPECT_EQ(sections[0].settings[1].text, "2");
  EXPECT_EQ(sections[0].settings[1].line, 8);
  EXPECT_EQ(FindIniSetting(sections, "run", "seed"), "7");
  EXPECT_EQ(FindIniSetting(sections, "input", "a"), "b = c");
  EXPECT_EQ(FindIniSetting(sections, "run", "a"), "");
}

TEST(IniText, CommentsBeginAtTheStartOrAfterABlank) {
  EXPECT_EQ(TextOf("a = data/c#/e.parquet"), "data/c#/e.parquet");
  EXPECT_EQ(TextOf("a = runs/x ; comment"), "runs/x");
  EXPECT_EQ(TextOf("a = runs/x\t# comment"), "runs/x");
  EXPECT_EQ(TextOf("a =#1"), "#1");
  EXPECT_EQ(TextOf("a = #1"), "");
  EXPECT_EQ(TextOf("; b = 1\n  # c\na = 2"), "2");
}

TEST(IniText, QuotesKeepEverythingBetweenThem) {
  EXPECT_EQ(TextOf("a = \"x # y ; z\" # comment"), "x # y ; z");
  EXPECT_EQ(TextOf("a = ' x '"), " x ");
  EXPECT_EQ(TextOf("a = \"say \"\"yes\"\" or 'no'\""), "say \"yes\" or 'no'");
  EXPECT_EQ(TextOf("a = 'it''s'"), "it's");
  EXPECT_EQ(TextOf("a = ''"), "");
  EXPECT_EQ(TextOf("a = it's"), "it's");
  const auto literal = ParseIni("[s]\na = '${X}'\nb = \"${X}\"", "p.ini").ValueOrDie();
  EXPECT_TRUE(literal[0].settings[0].literal);
  EXPECT_FALSE(literal[0].settings[1].literal);
}

TEST(IniText, RefusesWithFileAndLine) {
  CheckRefused("[s]\n\na = \"x",
               "'p.ini', line 3: a value that begins with \" must end with it: \"x");
  CheckRefused("[s]\na = 'x''",
               "'p.ini', line 2: a value that begins with ' must end with "
               "it: 'x''");
  CheckRefused("[s]\na = 'x'y",
               "'p.ini', line 2: only a comment may follow a value in "
               "quotes, after a blank: 'x'y");
  CheckRefused("[s]\na\n",
               "'p.ini', line 2: a line must be `[section]` or `name = value`: 'a'");
  CheckRefused("[s]\na # b = 1",
               "'p.ini', line 2: a line must be `[section]` or `name = value`: "
               "'a # b = 1'");
  CheckRefused("[s]\n= 1", "'p.ini', line 2: a value must have a name before `=`: '= 1'");
  CheckRefused("[ ]", "'p.ini', line 1: a section must have a name: '[ ]'");
  CheckRefused("[s", "'p.ini', line 1: a section must end with `]`: '[s'");
  CheckRefused("[s] a = 1",
               "'p.ini', line 1: only a comment may follow a section, after a "
               "blank: '[s] a = 1'");
  CheckRefused("[s]\na = 1\n[t]\n[s]\na = 2",
               "'p.ini', line 5: `s.a` is set twice, first in line 2; remove one");
}

// Values that are hard to write.
std::string RandomValue(std::mt19937& random) {
  constexpr std::string_view kPieces[] = {
      " ", "#",  ";", "\"", "'",  "\"\"", "${", "}",       "=",    "[",
      "]", "\t", "a", "é",  "\\", "''",   "$",  "${HOME}", "\x01", "/b"};
  std::string value;
  for (auto left = random() % 6; left > 0; --left)
    value += kPieces[random() % std::size(kPieces)];
  return value;
}

TEST(IniText, WhatIsWrittenReadsBack) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    IniSection section{"s", {{"a", RandomValue(random)}, {"b", RandomValue(random)}}};
    const std::string text = WriteIni(std::vector<IniSection>{section});
    const auto again = ParseIni(text, "p.ini");
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(again->size(), 1u);
    ASSERT_EQ((*again)[0].settings.size(), 2u) << text;
    for (int j = 0; j < 2; ++j) {
      const IniSetting& setting = (*again)[0].settings[j];
      ASSERT_EQ(setting.text, section.settings[j].text) << text;
      ASSERT_TRUE(setting.literal || setting.text.find("${") == std::string::npos);
    }
  }
}

TEST(IniText, SavedSettingsReadBack) {
  const TempDir folder;
  const auto store = StoreAt(folder / "run");
  EXPECT_FALSE(LoadSavedSettings(*store).ValueOrDie());
  std::mt19937 random(11);
  for (int i = 0; i < 50; ++i) {
    Settings settings;
    for (const char* key : {"input.edges", "input.src", "input.from", "run.directory"}) {
      CODEN_EXPECT_OK(Set(settings, key, RandomValue(random)));
    }
    CODEN_EXPECT_OK(SaveSettings(*store, settings));
    const auto saved = LoadSavedSettings(*store).ValueOrDie();
    ASSERT_TRUE(saved);
    Settings again;
    for (const IniSection& section : *saved) {
      for (const IniSetting& setting : section.settings) {
        CODEN_EXPECT_OK(Set(again, section.name + "." + setting.name, setting.text));
      }
    }
    EXPECT_EQ(ToIni(again), ToIni(settings));
  }
}

TEST(IniText, WrapsComments) {
  const std::string text = IniComment(std::string(40, 'a') + " " + std::string(60, 'b'));
  EXPECT_EQ(text, "# " + std::string(40, 'a') + "\n# " + std::string(60, 'b') + "\n");
}

}  // namespace
}  // namespace coden
