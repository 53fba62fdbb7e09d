#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

namespace coden {

struct TensorInfo {
  std::string name;
  std::string dtype;  ///< F32, BF16, ...
  std::vector<std::int64_t> shape;
  std::int64_t num_values = 1;
  std::int64_t num_bytes = 0;
};

/// Read which tensors a safetensors file holds, in the order of their bytes. Every length
/// in the header is checked against the file before it is used; what does not fit is a
/// corruption error. https://huggingface.co/docs/safetensors
arrow::Result<std::vector<TensorInfo>> ReadSafetensorsHeader(const std::string& path);

}  // namespace coden
