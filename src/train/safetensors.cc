#include "train/safetensors_internal.h"

#include <bit>
#include <cstring>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "store/safetensors_header_internal.h"

namespace coden {

namespace {

constexpr const char* kNote = "coden";

static_assert(std::endian::native == std::endian::little,
              "safetensors numbers are little endian");

}  // namespace

std::string ToSafetensors(std::span<const NamedTensor> tensors, const std::string& note) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  if (!note.empty()) header["__metadata__"][kNote] = note;
  std::size_t offset = 0;
  for (const NamedTensor& tensor : tensors) {
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
  bytes.reserve(bytes.size() + text.size() + offset);
  bytes += text;
  for (const NamedTensor& tensor : tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.values.data()),
                 tensor.values.size() * sizeof(float));
  }
  return bytes;
}

arrow::Result<SafetensorsFile> FromSafetensors(const std::string& bytes,
                                               const std::string& shown) {
  arrow::io::BufferReader reader(std::make_shared<arrow::Buffer>(bytes));
  ARROW_ASSIGN_OR_RAISE(const SafetensorsHeader header,
                        ReadSafetensorsHeader(reader, shown));
  SafetensorsFile file;
  file.tensors.reserve(header.tensors.size());
  for (const TensorInfo& info : header.tensors) {
    if (info.dtype != "F32") {
      return CorruptionError("the weights '", shown, "' are damaged: tensor '", info.name,
                             "' is of type ", info.dtype, ", must be F32");
    }
    NamedTensor tensor{info.name, info.shape,
                       std::vector<float>(static_cast<std::size_t>(info.num_values))};
    // Of a tensor without values there is no address to copy to.
    if (info.num_bytes > 0) {
      std::memcpy(tensor.values.data(), bytes.data() + info.offset,
                  static_cast<std::size_t>(info.num_bytes));
    }
    file.tensors.push_back(std::move(tensor));
  }
  const auto note = header.metadata.find(kNote);
  if (note != header.metadata.end()) file.note = note->second;
  return file;
}

}  // namespace coden
