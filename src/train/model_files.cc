#include <bit>
#include <cstring>

#include <arrow/scalar.h>
#include <nlohmann/json.hpp>

#include "train/model_files_internal.h"

namespace coden {

namespace {

constexpr int kModelFormatVersion = 1;

static_assert(std::endian::native == std::endian::little,
              "safetensors numbers are little endian");

const char* NameOf(ModelKind model) {
  switch (model) {
    case ModelKind::kCoden:
      return "coden";
    case ModelKind::kCodenS:
      break;
  }
  return "coden-s";
}

nlohmann::json ToJson(const arrow::Array& values) {
  auto json = nlohmann::json::array();
  for (std::int64_t i = 0; i < values.length(); ++i) {
    if (values.type_id() == arrow::Type::INT64) {
      json.push_back(static_cast<const arrow::Int64Array&>(values).Value(i));
    } else {
      json.push_back(static_cast<const arrow::StringArray&>(values).GetString(i));
    }
  }
  return json;
}

}  // namespace

std::string ToSafetensors(std::span<const NamedTensor> weights) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  std::size_t offset = 0;
  for (const NamedTensor& tensor : weights) {
    const std::size_t end = offset + tensor.values.size() * sizeof(float);
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the numbers start aligned

  const std::uint64_t header_size = text.size();
  std::string bytes(sizeof(header_size), '\0');
  std::memcpy(bytes.data(), &header_size, sizeof(header_size));
  bytes += text;
  for (const NamedTensor& tensor : weights) {
    bytes.append(reinterpret_cast<const char*>(tensor.values.data()),
                 tensor.values.size() * sizeof(float));
  }
  return bytes;
}

std::string ModelConfig(const TrainingInput& input, const TrainOptions& options,
                        const TrainedModel& model, int run, std::uint64_t seed) {
  const nlohmann::ordered_json config = {
      {"format_version", kModelFormatVersion},
      {"model", NameOf(options.model)},
      {"channels", input.data.num_channels},
      {"states", options.states},
      {"hidden", options.hidden},
      {"layers", options.layers},
      {"input", "embedding rows scaled to length 1"},
      {"classes", ToJson(*input.classes)},
      {"run", run},
      {"seed", seed},
      {"best_epoch", model.best_epoch},
      {"validate_micro_f1", model.validate_micro_f1},
  };
  return config.dump(/*indent=*/2) + "\n";
}

}  // namespace coden
