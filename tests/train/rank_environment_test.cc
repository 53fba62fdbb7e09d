#include "coden/train/rank_environment.h"

#include <map>

#include <gtest/gtest.h>

#include "coden/base/error.h"

namespace coden {
namespace {

using Variables = std::map<std::string, std::string>;

const Variables kGood = {{"WORLD_SIZE", "4"},
                         {"RANK", "3"},
                         {"MASTER_ADDR", "node0"},
                         {"MASTER_PORT", "29500"}};

auto Read(Variables variables, const Variables& changed = {}) {
  for (const auto& [name, value] : changed) variables[name] = value;
  return ReadRankEnvironment([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(RankEnvironment, IsWhatTheLauncherSays) {
  auto found = Read(kGood).ValueOrDie().value();
  EXPECT_EQ(found.rank, 3);
  EXPECT_EQ(found.size, 4);
  EXPECT_EQ(found.address, "node0");
  EXPECT_EQ(found.port, 29500);
  EXPECT_FALSE(found.launcher_store);
  EXPECT_EQ(found.attempt, "0");
  found = Read(kGood, {{"TORCHELASTIC_USE_AGENT_STORE", "True"},
                       {"TORCHELASTIC_RESTART_COUNT", "2"}})
              .ValueOrDie()
              .value();
  EXPECT_TRUE(found.launcher_store);
  EXPECT_EQ(found.attempt, "2");
}

TEST(RankEnvironment, OneProcessTrainsAlone) {
  EXPECT_FALSE(Read({}).ValueOrDie());
  EXPECT_FALSE(Read({{"RANK", "x"}, {"MASTER_PORT", "x"}}).ValueOrDie());
  EXPECT_FALSE(Read({{"WORLD_SIZE", ""}}).ValueOrDie());
  EXPECT_FALSE(Read({{"WORLD_SIZE", "1"}}).ValueOrDie());
}

TEST(RankEnvironment, RefusesWhatIsMissingOrNoNumber) {
  const auto refuses = [](const std::string& name, const std::string& value) {
    SCOPED_TRACE(name + "=" + value);
    const auto status = Read(kGood, {{name, value}}).status();
    EXPECT_EQ(FaultOf(status), Fault::kUsage);
    EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
  };
  for (const auto& [name, _] : kGood) {
    if (name != "WORLD_SIZE") refuses(name, "");
  }
  for (const char* value : {"two", "0", "-2", "2.0", " 2", "99999999999"})
    refuses("WORLD_SIZE", value);
  for (const char* value : {"4", "-1", "1x"}) refuses("RANK", value);
  for (const char* value : {"0", "65536", "http"}) refuses("MASTER_PORT", value);
}

}  // namespace
}  // namespace coden
