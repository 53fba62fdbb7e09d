#include "train/model_files_internal.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api.h>
#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "coden/store/run_layout.h"
#include "settings/label_columns_internal.h"
#include "store/json_field_internal.h"
#include "train/safetensors_internal.h"

namespace coden {

namespace {

using nlohmann::ordered_json;

constexpr int kModelFormatVersion = 3;

constexpr std::pair<ModelKind, const char*> kModels[] = {{ModelKind::kCoden, "coden"},
                                                         {ModelKind::kCodenS, "coden-s"},
                                                         {ModelKind::kCodenR, "coden-r"},
                                                         {ModelKind::kCodenA, "coden-a"}};
constexpr std::pair<GateKind, const char*> kGates[] = {{GateKind::kChannel, "channel"},
                                                       {GateKind::kInput, "input"}};

constexpr std::pair<Protocol, const char*> kProtocols[] = {
    {Protocol::kShared, "shared"},
    {Protocol::kEach, "each"},
    {Protocol::kRolling, "rolling"}};

template <typename Enum, std::size_t kSize>
const char* NameOf(const std::pair<Enum, const char*> (&names)[kSize], Enum value) {
  return std::find_if(std::begin(names), std::end(names),
                      [&](const auto& pair) { return pair.first == value; })
      ->second;
}

template <typename Enum, std::size_t kSize>
bool Find(const std::pair<Enum, const char*> (&names)[kSize], const ordered_json& name,
          Enum* value) {
  const auto found = std::find_if(std::begin(names), std::end(names),
                                  [&](const auto& pair) { return name == pair.second; });
  if (found == std::end(names)) return false;
  *value = found->first;
  return true;
}

ordered_json ClassesToJson(const arrow::Array& values) {
  auto json = ordered_json::array();
  for (std::int64_t i = 0; i < values.length(); ++i) {
    if (values.type_id() == arrow::Type::INT64) {
      json.push_back(static_cast<const arrow::Int64Array&>(values).Value(i));
    } else {
      json.push_back(static_cast<const arrow::StringArray&>(values).GetString(i));
    }
  }
  return json;
}

arrow::Result<std::shared_ptr<arrow::Array>> ClassesFromJson(const ordered_json& values) {
  if (!values.empty() && values.front().is_string()) {
    arrow::StringBuilder builder;
    for (const auto& value : values)
      ARROW_RETURN_NOT_OK(builder.Append(value.get<std::string>()));
    return builder.Finish();
  }
  arrow::Int64Builder builder;
  for (const auto& value : values)
    ARROW_RETURN_NOT_OK(builder.Append(JsonField(value).As<std::int64_t>()));
  return builder.Finish();
}

LabelColumnShape LabelShape(const TrainOptions& options) {
  return {options.label_columns, options.label_alphas, options.label_windows};
}

}  // namespace

std::vector<std::int64_t> ModelConfig::ChannelGroups() const {
  std::vector<std::int64_t> groups;
  if (embedding > 0) groups.push_back(embedding);
  const LabelColumnShape labels = LabelShape(options);
  if (labels.folds > 0) groups.push_back(labels.NumChannels(num_classes()));
  return groups;
}

std::int64_t ModelConfig::StartChannel() const {
  const LabelColumnShape labels = LabelShape(options);
  if (labels.folds == 0) return -1;
  return embedding + std::int64_t{2} * labels.start_block() * num_classes();
}

arrow::Result<ModelConfig> DescribeModel(const TrainingInput& input,
                                         const Settings& settings,
                                         const TrainedModel& model, int run,
                                         std::uint64_t seed) {
  ModelConfig config;
  config.options = settings.train;
  const LabelColumnShape labels = ResolveLabelColumns(settings);
  config.options.label_alphas = labels.alphas;
  config.options.label_windows = labels.windows;
  if (settings.train.inputs.embedding)
    config.embedding = input.data.channels.front()->shape().channels;
  config.features = input.data.features.width;
  // Features alone have no history.
  if (!settings.train.inputs.embedding && settings.train.label_columns == 0) {
    config.options.model = ModelKind::kCodenS;
    config.options.averages.clear();
  }
  arrow::Int32Builder known;
  ARROW_RETURN_NOT_OK(known.AppendValues(model.classes.back()));
  ARROW_ASSIGN_OR_RAISE(const auto order, known.Finish());
  ARROW_ASSIGN_OR_RAISE(config.classes, arrow::compute::Take(*input.classes, *order));
  config.run = run;
  config.seed = seed;
  // A rolling model has not learnt from the last time, which it predicts.
  const std::size_t ahead = settings.train.protocol == Protocol::kRolling ? 2 : 1;
  config.prediction =
      input.data.predictions[input.data.predictions.size() - ahead].prediction;
  config.best_epoch = model.latest().epoch;
  config.validate_micro_f1 = model.latest().validate_micro_f1;
  return config;
}

std::string ClassesToText(const arrow::Array& classes) {
  return ClassesToJson(classes).dump();
}

std::string ToJson(const ModelConfig& config) {
  const TrainOptions& options = config.options;
  ordered_json labels;
  if (options.label_columns > 0) {
    labels = {{"folds", options.label_columns},
              {"alphas", options.label_alphas},
              {"windows", options.label_windows},
              {"start", config.StartChannel()}};
  }
  std::int64_t channels = 0;
  for (const std::int64_t group : config.ChannelGroups()) channels += group;
  const ordered_json json = {
      {"format_version", kModelFormatVersion},
      {"model", NameOf(kModels, options.model)},
      {"gate", NameOf(kGates, options.gate)},
      {"channels", channels},
      {"embedding", config.embedding},
      {"label_columns", std::move(labels)},
      {"features", config.features},
      {"averages", options.averages},
      {"states", options.states},
      {"hidden", options.hidden},
      {"layers", options.layers},
      {"classes", ClassesToJson(*config.classes)},
      {"run", config.run},
      {"seed", config.seed},
      {"protocol", NameOf(kProtocols, options.protocol)},
      {"prediction", config.prediction},
      {"best_epoch", config.best_epoch},
      {"validate_micro_f1", config.validate_micro_f1},
  };
  return json.dump(/*indent=*/2) + "\n";
}

arrow::Result<ModelConfig> ModelConfigFromJson(const std::string& text,
                                               const std::string& shown) {
  const auto damaged = [&](const std::string& why) {
    return CorruptionError("the model '", shown, "' is damaged: ", why);
  };
  try {
    const auto json = ordered_json::parse(text);
    if (json.at("format_version") != kModelFormatVersion) {
      return damaged("its format_version must be " + std::to_string(kModelFormatVersion));
    }
    ModelConfig config;
    TrainOptions& options = config.options;
    if (!Find(kModels, json.at("model"), &options.model) ||
        !Find(kGates, json.at("gate"), &options.gate) ||
        !Find(kProtocols, json.at("protocol"), &options.protocol)) {
      return damaged("this version does not know its model");
    }
    config.embedding = JsonField(json, "embedding");
    config.features = JsonField(json, "features");
    json.at("averages").get_to(options.averages);
    options.states = JsonField(json, "states");
    options.hidden = JsonField(json, "hidden");
    options.layers = JsonField(json, "layers");
    options.inputs = {config.embedding > 0, config.features > 0};
    if (const auto& labels = json.at("label_columns"); !labels.is_null()) {
      options.label_columns = JsonField(labels, "folds");
      labels.at("alphas").get_to(options.label_alphas);
      options.label_windows = JsonField(labels, "windows").As<std::vector<EventTime>>();
    }
    ARROW_ASSIGN_OR_RAISE(config.classes, ClassesFromJson(json.at("classes")));
    config.run = JsonField(json, "run");
    config.seed = JsonField(json, "seed");
    config.prediction = JsonField(json, "prediction");
    config.best_epoch = JsonField(json, "best_epoch");
    // Null where no node validates.
    if (const auto& score = json.at("validate_micro_f1"); !score.is_null())
      score.get_to(config.validate_micro_f1);
    const bool sane = config.embedding >= 0 && config.features >= 0 &&
                      options.states > 0 && options.hidden > 0 && options.layers > 0 &&
                      config.num_classes() > 0;
    if (!sane) return damaged("a size in it must be above 0");
    if (const auto& labels = json.at("label_columns"); !labels.is_null()) {
      const std::int64_t start = JsonField(labels, "start");
      if (start != config.StartChannel())
        return damaged("its `start` is not a channel of label columns");
    }
    return config;
  } catch (const nlohmann::json::exception& error) {
    return damaged(error.what());
  }
}

arrow::Result<SavedModel> LoadModel(const RunStore& store) {
  SavedModel model;
  ARROW_ASSIGN_OR_RAISE(const std::string config,
                        store.ReadText(RunLayout::kModelConfig));
  ARROW_ASSIGN_OR_RAISE(model.config,
                        ModelConfigFromJson(config, store.Show(RunLayout::kModelConfig)));
  ARROW_ASSIGN_OR_RAISE(const std::string bytes,
                        store.ReadText(RunLayout::kModelWeights));
  ARROW_ASSIGN_OR_RAISE(SafetensorsFile file,
                        FromSafetensors(bytes, store.Show(RunLayout::kModelWeights)));
  model.weights = std::move(file.tensors);
  return model;
}

}  // namespace coden
