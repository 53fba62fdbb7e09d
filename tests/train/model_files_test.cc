#include "train/model_files_internal.h"

#include <arrow/builder.h>
#include <gtest/gtest.h>

#include "train/checkpoint_internal.h"
#include "train/safetensors_internal.h"

namespace coden {
namespace {

ModelConfig MakeConfig() {
  ModelConfig config;
  config.options.model = ModelKind::kCodenR;
  config.options.gate = GateKind::kInput;
  config.options.protocol = Protocol::kRolling;
  config.options.averages = {0.5, 0.95};
  config.options.label_columns = 5;
  config.options.label_alphas = {0.2, 0.5};
  config.options.label_windows = {0, 3, 7};
  config.embedding = 8;
  config.features = 3;
  arrow::StringBuilder classes;
  EXPECT_TRUE(classes.AppendValues({"a", "b"}).ok());
  config.classes = classes.Finish().ValueOrDie();
  config.seed = 9;
  config.prediction = 4;
  config.best_epoch = 12;
  config.validate_micro_f1 = 0.25;
  return config;
}

TEST(ModelFiles, AConfigComesBackAsItWas) {
  const std::string text = ToJson(MakeConfig());
  const ModelConfig found = ModelConfigFromJson(text, "x").ValueOrDie();
  EXPECT_EQ(ToJson(found), text);
  EXPECT_EQ(found.ChannelGroups(), (std::vector<std::int64_t>{8, 24}));
  EXPECT_TRUE(found.options.inputs.features);
  EXPECT_EQ(found.options.label_windows, (std::vector<EventTime>{0, 3, 7}));
}

TEST(ModelFiles, RefusesWhatIsNoConfig) {
  for (const char* text : {"", "[]", "{}", "{\"format_version\": 1}"}) {
    EXPECT_FALSE(ModelConfigFromJson(text, "x").ok()) << text;
  }
  std::string other = ToJson(MakeConfig());
  other.replace(other.find("coden-r"), 7, "coden-z");
  EXPECT_EQ(ModelConfigFromJson(other, "x").status().message(),
            "the model 'x' is damaged: this version does not know its model");
}

TEST(Safetensors, ComeBackAsTheyWere) {
  const std::vector<NamedTensor> tensors = {
      {"a.b", {2, 2}, {1, 2, 3, 4}}, {"c", {0}, {}}, {"d", {}, {5}}};
  const std::string bytes = ToSafetensors(tensors, "a note");
  const SafetensorsFile file = FromSafetensors(bytes, "x").ValueOrDie();
  EXPECT_EQ(file.note, "a note");
  ASSERT_EQ(file.tensors.size(), 3u);
  for (const NamedTensor& tensor : file.tensors) {
    const auto same = std::find_if(tensors.begin(), tensors.end(), [&](const auto& one) {
      return one.name == tensor.name;
    });
    ASSERT_NE(same, tensors.end());
    EXPECT_EQ(tensor.shape, same->shape);
    EXPECT_EQ(tensor.values, same->values);
  }
}

// Whatever is cut off or changed, reading ends in an error or in tensors that fit.
TEST(Safetensors, NoDamageLeadsOutOfTheFile) {
  const std::string bytes =
      ToSafetensors(std::vector<NamedTensor>{{"weights", {3}, {1, 2, 3}}}, "note");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(FromSafetensors(bytes.substr(0, size), "x").ok());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int bit : {1, 16, 64}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      const auto file = FromSafetensors(damaged, "x");
      if (!file.ok()) continue;
      EXPECT_LE(file->tensors.size(), 1u);
    }
  }
}

TEST(Checkpoint, RefusesWhatIsNone) {
  EXPECT_EQ(CheckpointFromBytes(ToSafetensors({}, "{}"), "x").status().message(),
            "'x' is damaged: it is no state of a training");
}

}  // namespace
}  // namespace coden
