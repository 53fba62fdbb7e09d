#include "train/model_state_internal.h"

#include <algorithm>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "coden/store/run_layout.h"
#include "store/hashing_file_internal.h"
#include "store/json_field_internal.h"
#include "store/safetensors_header_internal.h"

namespace coden {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kFormatVersion = 1;
constexpr const char* kNote = "coden";

arrow::Status Damaged(const RunStore& store) {
  return CorruptionError("'", store.Show(RunLayout::kModelState),
                         "' is not what was written; predict again with `coden predict "
                         "--force`");
}

std::string NameOf(std::size_t state) { return "state" + std::to_string(state); }

std::int64_t NumValues(const NodeStates::State& state, NodeId num_nodes) {
  return num_nodes * state.width();
}

std::string Header(const ModelProgress& progress, NodeStates& states) {
  const json note = {{"format_version", kFormatVersion},
                     {"model", progress.model},
                     {"snapshot", progress.snapshot},
                     {"events", progress.events},
                     {"prediction", progress.prediction}};
  ordered_json header;
  header["__metadata__"] = {{"format", "pt"}, {kNote, note.dump()}};
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < states.states().size(); ++i) {
    const NodeStates::State& state = states.states()[i];
    if (state.width() == 0) continue;
    std::vector<std::int64_t> shape = {states.num_nodes()};
    shape.insert(shape.end(), state.row_shape.begin(), state.row_shape.end());
    const std::int64_t end = offset + NumValues(state, states.num_nodes()) *
                                          static_cast<std::int64_t>(sizeof(float));
    header[NameOf(i)] = {
        {"dtype", "F32"}, {"shape", shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the numbers start aligned
  return text;
}

}  // namespace

arrow::Result<FileRecord> StageModelState(RunStore& store, const ModelProgress& progress,
                                          NodeStates& states) {
  FileRecord record;
  record.path = RunLayout::kModelState;
  record.staged = store.StageName(record.path);
  record.rows = states.num_nodes();
  ARROW_ASSIGN_OR_RAISE(const auto file, store.Create(record.staged));
  const std::string header = Header(progress, states);
  const std::uint64_t size = header.size();
  ARROW_RETURN_NOT_OK(file->Write(&size, sizeof(size)));
  ARROW_RETURN_NOT_OK(file->Write(header.data(), static_cast<std::int64_t>(size)));
  for (const NodeStates::State& state : states.states()) {
    const std::int64_t count = NumValues(state, states.num_nodes());
    if (count > 0)
      ARROW_RETURN_NOT_OK(file->Write(state.values.data(), count * sizeof(float)));
  }
  ARROW_ASSIGN_OR_RAISE(record.size, file->Tell());
  ARROW_RETURN_NOT_OK(file->Close());
  record.xxh3 = file->Digest();
  return record;
}

arrow::Result<ModelProgress> LoadModelProgress(const RunStore& store,
                                               const FileRecord& record) {
  const std::string shown = store.Show(RunLayout::kModelState);
  ARROW_ASSIGN_OR_RAISE(const auto file, store.OpenInput(record));
  ARROW_ASSIGN_OR_RAISE(const SafetensorsHeader header,
                        ReadSafetensorsHeader(*file, shown));
  const auto note = header.metadata.find(kNote);
  if (note == header.metadata.end()) return Damaged(store);
  // The library reports a missing key or a wrong type by throwing; the fence is here.
  try {
    const json value = json::parse(note->second);
    if (value.at("format_version") != kFormatVersion) return Damaged(store);
    ModelProgress progress;
    value.at("model").get_to(progress.model);
    progress.snapshot = JsonField(value, "snapshot");
    progress.events = JsonField(value, "events");
    progress.prediction = JsonField(value, "prediction");
    return progress;
  } catch (const json::exception&) {
    return Damaged(store);
  }
}

arrow::Status LoadModelStates(const RunStore& store, NodeStates& states) {
  ARROW_ASSIGN_OR_RAISE(const auto file, store.OpenInput(RunLayout::kModelState));
  ARROW_ASSIGN_OR_RAISE(const SafetensorsHeader header,
                        ReadSafetensorsHeader(*file, store.Show(RunLayout::kModelState)));
  for (std::size_t i = 0; i < states.states().size(); ++i) {
    NodeStates::State& state = states.states()[i];
    if (state.width() == 0) continue;
    const auto found =
        std::find_if(header.tensors.begin(), header.tensors.end(),
                     [&](const TensorInfo& tensor) { return tensor.name == NameOf(i); });
    const bool fits = found != header.tensors.end() && found->dtype == "F32" &&
                      found->shape.size() == state.row_shape.size() + 1 &&
                      std::equal(state.row_shape.begin(), state.row_shape.end(),
                                 found->shape.begin() + 1) &&
                      found->shape.front() <= states.num_nodes();
    if (!fits) return Damaged(store);
    ARROW_ASSIGN_OR_RAISE(
        const std::int64_t read,
        file->ReadAt(found->offset, found->num_bytes, state.values.data()));
    if (read != found->num_bytes) return Damaged(store);
  }
  return arrow::Status::OK();
}

}  // namespace coden
