#include "train/checkpoint_internal.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "store/json_field_internal.h"
#include "train/safetensors_internal.h"

namespace coden {

namespace {

using nlohmann::json;

constexpr int kFormatVersion = 1;

// A group of tensors is told by what its names begin with.
void AddTensors(const std::string& group, const std::vector<NamedTensor>& tensors,
                std::vector<NamedTensor>* all) {
  for (const NamedTensor& tensor : tensors) {
    all->push_back(tensor);
    all->back().name = group + tensor.name;
  }
}

std::vector<NamedTensor> TakeTensors(const std::string& group,
                                     std::vector<NamedTensor>& all) {
  std::vector<NamedTensor> tensors;
  for (NamedTensor& tensor : all) {
    if (!tensor.name.starts_with(group)) continue;
    tensors.push_back(std::move(tensor));
    tensors.back().name.erase(0, group.size());
    tensor.name.clear();
  }
  return tensors;
}

std::string RunGroup(std::size_t run, const char* what) {
  return "run" + std::to_string(run) + "." + what + ".";
}

std::string BestGroup(std::size_t run, std::size_t lesson) {
  return "run" + std::to_string(run) + ".best" + std::to_string(lesson) + ".";
}

json ToJson(const TrainerMemory& memory) {
  json best = json::array();
  for (const BestEpoch& one : memory.best)
    best.push_back({{"epoch", one.epoch}, {"validate_micro_f1", one.validate_micro_f1}});
  json epochs = json::array();
  for (const EpochRecord& one : memory.epochs) {
    epochs.push_back(
        {one.lesson, one.epoch, one.loss, one.validate_micro_f1, one.seconds});
  }
  return {{"lesson", memory.lesson},       {"epoch", memory.epoch},
          {"num_steps", memory.num_steps}, {"random", memory.random},
          {"best", std::move(best)},       {"epochs", std::move(epochs)}};
}

// A score over no nodes at all is NaN, which JSON has no word for but null.
double Score(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

TrainerMemory FromJson(const json& value) {
  TrainerMemory memory;
  memory.lesson = JsonField(value, "lesson");
  memory.epoch = JsonField(value, "epoch");
  memory.num_steps = JsonField(value, "num_steps");
  memory.random = JsonField(value, "random");
  for (const json& one : value.at("best"))
    memory.best.push_back(
        {JsonField(one, "epoch"), Score(one.at("validate_micro_f1")), {}});
  for (const json& one : value.at("epochs"))
    memory.epochs.push_back({JsonField(one.at(0)), JsonField(one.at(1)), Score(one.at(2)),
                             Score(one.at(3)), one.at(4)});
  return memory;
}

}  // namespace

std::string CheckpointToBytes(const std::vector<TrainerMemory>& runs) {
  json note = {{"format_version", kFormatVersion}, {"runs", json::array()}};
  std::vector<NamedTensor> tensors;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const TrainerMemory& memory = runs[run];
    note["runs"].push_back(ToJson(memory));
    AddTensors(RunGroup(run, "weights"), memory.weights, &tensors);
    AddTensors(RunGroup(run, "first"), memory.first_moments, &tensors);
    AddTensors(RunGroup(run, "second"), memory.second_moments, &tensors);
    for (std::size_t lesson = 0; lesson < memory.best.size(); ++lesson)
      AddTensors(BestGroup(run, lesson), memory.best[lesson].weights, &tensors);
  }
  return ToSafetensors(tensors, note.dump());
}

arrow::Result<std::vector<TrainerMemory>> CheckpointFromBytes(const std::string& bytes,
                                                              const std::string& shown) {
  ARROW_ASSIGN_OR_RAISE(SafetensorsFile file, FromSafetensors(bytes, shown));
  try {
    const json note = json::parse(file.note);
    if (note.at("format_version") != kFormatVersion)
      return CorruptionError("'", shown, "' is of another version");
    std::vector<TrainerMemory> runs;
    for (const json& value : note.at("runs")) {
      TrainerMemory memory = FromJson(value);
      const std::size_t run = runs.size();
      memory.weights = TakeTensors(RunGroup(run, "weights"), file.tensors);
      memory.first_moments = TakeTensors(RunGroup(run, "first"), file.tensors);
      memory.second_moments = TakeTensors(RunGroup(run, "second"), file.tensors);
      for (std::size_t lesson = 0; lesson < memory.best.size(); ++lesson)
        memory.best[lesson].weights = TakeTensors(BestGroup(run, lesson), file.tensors);
      runs.push_back(std::move(memory));
    }
    return runs;
  } catch (const json::exception&) {
    return CorruptionError("'", shown, "' is damaged: it is no state of a training");
  }
}

}  // namespace coden
