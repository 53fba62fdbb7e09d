// Run a saved model on inputs from a file, for the comparison with the Python mirror
// (tests/train/test_mirror.py): model_probe MODEL_FOLDER CASE.safetensors OUT.safetensors
//
// CASE has history [n, C, S], at [k], labels [n, k] (-1: none) and, where the model reads
// them, features [n, X]; all are float32. OUT gets logits [n, k, classes] and for every
// parameter its gradient of the mean cross-entropy over pairs with a label.

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include <torch/torch.h>

#include "coden/base/error.h"
#include "coden/store/run_store.h"
#include "train/model_files_internal.h"
#include "train/network_internal.h"
#include "train/safetensors_internal.h"

namespace coden {
namespace {

arrow::Result<std::string> ReadAll(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return arrow::Status::IOError("cannot open ", path);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

torch::Tensor ToTensor(const NamedTensor& tensor) {
  return torch::from_blob(const_cast<float*>(tensor.values.data()), tensor.shape).clone();
}

NamedTensor FromTensor(const std::string& name, const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().contiguous();
  const float* first = values.const_data_ptr<float>();
  return {name, values.sizes().vec(), std::vector<float>(first, first + values.numel())};
}

arrow::Status Probe(const char* folder, const char* case_path, const char* out_path) {
  ARROW_ASSIGN_OR_RAISE(const std::string config_text,
                        ReadAll((std::string(folder) + "/config.json").c_str()));
  ARROW_ASSIGN_OR_RAISE(const ModelConfig config,
                        ModelConfigFromJson(config_text, folder));
  ARROW_ASSIGN_OR_RAISE(const std::string weight_bytes,
                        ReadAll((std::string(folder) + "/model.safetensors").c_str()));
  ARROW_ASSIGN_OR_RAISE(const SafetensorsFile weights,
                        FromSafetensors(weight_bytes, folder));
  Network network({config.ChannelGroups(), config.features, config.num_classes(),
                   config.StartChannel()},
                  config.options);
  if (!network.SetWeights(weights.tensors))
    return arrow::Status::Invalid("the weights are not of this model");
  network.eval();

  ARROW_ASSIGN_OR_RAISE(const std::string case_bytes, ReadAll(case_path));
  ARROW_ASSIGN_OR_RAISE(const SafetensorsFile given,
                        FromSafetensors(case_bytes, case_path));
  std::map<std::string, torch::Tensor> inputs;
  for (const NamedTensor& tensor : given.tensors)
    inputs.emplace(tensor.name, ToTensor(tensor));
  const torch::Tensor history = inputs.at("history");
  const torch::Tensor times = inputs.at("at").to(torch::kInt64);
  const std::vector<std::int64_t> at(
      times.const_data_ptr<std::int64_t>(),
      times.const_data_ptr<std::int64_t>() + times.numel());
  const torch::Tensor labels = inputs.at("labels").to(torch::kInt64).flatten();
  torch::Tensor features;
  if (config.features > 0) features = inputs.at("features").unsqueeze(1);

  SplitMix64 random(0);
  const torch::Tensor pairs = torch::arange(labels.size(0));
  const torch::Tensor logits =
      network.Forward(history, at, network.Prepare(at), features, pairs, random);
  const torch::Tensor known = labels.ge(0).nonzero().flatten();
  torch::cross_entropy_loss(logits.index_select(0, known), labels.index_select(0, known))
      .backward();
  std::vector<NamedTensor> found = {FromTensor(
      "logits",
      logits.view({history.size(0), static_cast<std::int64_t>(at.size()), -1}))};
  for (const auto& parameter : network.named_parameters()) {
    if (parameter.value().grad().defined())
      found.push_back(FromTensor("grad." + parameter.key(), parameter.value().grad()));
  }
  const std::string bytes = ToSafetensors(found);
  std::ofstream(out_path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return arrow::Status::OK();
}

}  // namespace
}  // namespace coden

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: model_probe MODEL_FOLDER CASE.safetensors OUT.safetensors\n",
               stderr);
    return 2;
  }
  const arrow::Status status = coden::Probe(argv[1], argv[2], argv[3]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}
