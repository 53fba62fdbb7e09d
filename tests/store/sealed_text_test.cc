#include "coden/store/sealed_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "coden/store/hasher.h"
#include "support/status.h"

namespace coden {
namespace {

constexpr char kJson[] = "{\n \"a\": 1,\n \"b\": \"two\"\n}\n";
constexpr char kIni[] = "[run]\nseed = 7\n";

TEST(SealedText, IsStillOfItsFormat) {
  const std::string json = SealJson(kJson);
  const auto value = nlohmann::json::parse(json);
  EXPECT_EQ(value.size(), 3u);
  EXPECT_EQ(value.at("xxh3"), HashOf(kJson, sizeof(kJson) - 1));
  EXPECT_EQ(value.at("b"), "two");
  EXPECT_EQ(SealIni(kIni), "# xxh3 " + HashOf(kIni, sizeof(kIni) - 1) + "\n" + kIni);
}

TEST(SealedText, IsReadBack) {
  EXPECT_EQ(UnsealJson(SealJson(kJson), "x").ValueOrDie(), kJson);
  EXPECT_EQ(UnsealIni(SealIni(kIni), "x").ValueOrDie(), kIni);
  EXPECT_EQ(UnsealIni(SealIni(""), "x").ValueOrDie(), "");
}

TEST(SealedText, OneFormDoesNotPassForTheOther) {
  EXPECT_FALSE(UnsealIni(SealJson(kJson), "x").ok());
  EXPECT_FALSE(UnsealJson(SealIni(kIni), "x").ok());
}

struct Form {
  std::string sealed;
  arrow::Result<std::string> (*unseal)(std::string_view, const std::string&);
};

std::vector<Form> Forms() {
  return {{SealJson(kJson), UnsealJson}, {SealIni(kIni), UnsealIni}};
}

TEST(SealedText, AnyChangedBitIsSeen) {
  for (const Form& form : Forms()) {
    for (std::size_t bit = 0; bit < 8 * form.sealed.size(); ++bit) {
      std::string changed = form.sealed;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
      const auto text = form.unseal(changed, "the file");
      ASSERT_FALSE(text.ok()) << "bit " << bit << " of " << form.sealed;
      EXPECT_EQ(FaultOf(text.status()), Fault::kCorruption);
      EXPECT_NE(text.status().message().find("'the file' is damaged"), std::string::npos);
    }
  }
}

TEST(SealedText, AnyCutIsSeen) {
  for (const Form& form : Forms()) {
    for (std::size_t size = 0; size < form.sealed.size(); ++size)
      EXPECT_FALSE(form.unseal(form.sealed.substr(0, size), "x").ok()) << size;
  }
}

}  // namespace
}  // namespace coden
