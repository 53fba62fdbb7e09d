#include "store/safetensors_header_internal.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include <arrow/buffer.h>
#include <nlohmann/json.hpp>

#include "coden/base/error.h"

namespace coden {

namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "safetensors numbers are little endian");

// The format's own limit.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

// Bits of one value; nothing for a type that the format does not have.
std::optional<std::int64_t> BitsOf(std::string_view dtype) {
  for (const auto& [name, bits] : {std::pair{"F64", 64},
                                   {"F32", 32},
                                   {"F16", 16},
                                   {"BF16", 16},
                                   {"I64", 64},
                                   {"I32", 32},
                                   {"I16", 16},
                                   {"I8", 8},
                                   {"U64", 64},
                                   {"U32", 32},
                                   {"U16", 16},
                                   {"U8", 8},
                                   {"BOOL", 8}}) {
    if (dtype == name) return bits;
  }
  return std::nullopt;
}

// A whole number from 0 to `limit`.
std::optional<std::int64_t> Size(const json& value, std::int64_t limit) {
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto size = value.get<std::uint64_t>();
  if (size > static_cast<std::uint64_t>(limit)) return std::nullopt;
  return static_cast<std::int64_t>(size);
}

// One entry of the header; `data_bytes` come after the header. The error is the reason.
arrow::Result<TensorInfo> ParseTensor(const std::string& name, const json& entry,
                                      std::int64_t data_bytes) {
  const auto damaged = [&name](const char* reason) {
    return arrow::Status::Invalid("tensor '", name, "' ", reason);
  };
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
      !entry.contains("shape") || !entry["shape"].is_array() ||
      !entry.contains("data_offsets") || !entry["data_offsets"].is_array() ||
      entry["data_offsets"].size() != 2) {
    return damaged("has no dtype, shape and data_offsets");
  }
  TensorInfo tensor{name, entry["dtype"].get<std::string>(), {}};
  const auto bits = BitsOf(tensor.dtype);
  if (!bits) return damaged("has a dtype that the format does not know");
  const auto begin = Size(entry["data_offsets"][0], data_bytes);
  const auto end = Size(entry["data_offsets"][1], data_bytes);
  if (!begin || !end || *begin > *end) return damaged("lies outside the file");
  tensor.offset = *begin;
  tensor.num_bytes = *end - *begin;
  for (const json& extent : entry["shape"]) {
    const auto size = Size(extent, data_bytes);
    // The product so far is at most data_bytes, and so is the next: it cannot overflow.
    if (!size || (*size > 0 && tensor.num_values > data_bytes / *size)) {
      return damaged("has a shape that does not fit the file");
    }
    tensor.shape.push_back(*size);
    tensor.num_values *= *size;
  }
  if (tensor.num_values > data_bytes ||
      tensor.num_values * (*bits / 8) != tensor.num_bytes) {
    return damaged("has a shape that does not fit its bytes");
  }
  return tensor;
}

arrow::Result<SafetensorsHeader> ReadHeader(arrow::io::RandomAccessFile& file) {
  ARROW_ASSIGN_OR_RAISE(const std::int64_t file_bytes, file.GetSize());
  std::uint64_t header_bytes = 0;
  constexpr auto kLengthBytes = static_cast<std::int64_t>(sizeof(header_bytes));
  if (file_bytes < kLengthBytes) return arrow::Status::Invalid("it is too short");
  ARROW_RETURN_NOT_OK(file.ReadAt(0, kLengthBytes, &header_bytes).status());
  if (header_bytes > kMaxHeaderBytes ||
      header_bytes > static_cast<std::uint64_t>(file_bytes - kLengthBytes)) {
    return arrow::Status::Invalid("its header is longer than the file: ", header_bytes,
                                  " bytes");
  }
  const auto header_size = static_cast<std::int64_t>(header_bytes);
  ARROW_ASSIGN_OR_RAISE(const auto text, file.ReadAt(kLengthBytes, header_size));
  const auto* begin = text->data();
  const json header = json::parse(begin, begin + text->size(), /*cb=*/nullptr,
                                  /*allow_exceptions=*/false);
  if (!header.is_object()) return arrow::Status::Invalid("its header is no JSON object");

  SafetensorsHeader found;
  const std::int64_t data_begin = kLengthBytes + header_size;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.items()) {
        if (value.is_string()) found.metadata.emplace(key, value.get<std::string>());
      }
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto tensor, ParseTensor(name, entry, file_bytes - data_begin));
    tensor.offset += data_begin;
    found.tensors.push_back(std::move(tensor));
  }
  std::sort(found.tensors.begin(), found.tensors.end(),
            [](const TensorInfo& a, const TensorInfo& b) {
              return std::pair(a.offset, a.num_bytes) < std::pair(b.offset, b.num_bytes);
            });
  // Tensors that share bytes could need far more memory than the file has.
  std::int64_t end = data_begin;
  for (const TensorInfo& tensor : found.tensors) {
    if (tensor.offset < end) {
      return arrow::Status::Invalid("tensor '", tensor.name, "' overlaps another one");
    }
    end = tensor.offset + tensor.num_bytes;
  }
  return found;
}

}  // namespace

arrow::Result<SafetensorsHeader> ReadSafetensorsHeader(arrow::io::RandomAccessFile& file,
                                                       const std::string& shown) {
  auto header = ReadHeader(file);
  if (header.ok()) return header;
  return WithFault(header.status(), Fault::kCorruption,
                   "the weights '" + shown + "' are damaged: ");
}

}  // namespace coden
