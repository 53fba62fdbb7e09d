#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>

namespace coden {

struct TensorInfo {
  std::string name;
  std::string dtype;  ///< F32, BF16, ...
  std::vector<std::int64_t> shape;
  std::int64_t num_values = 1;
  std::int64_t offset = 0;  ///< in the file
  std::int64_t num_bytes = 0;
};

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;              ///< in the order of their bytes
  std::map<std::string, std::string> metadata;  ///< what the writer wanted to say
};

/// Read which tensors a safetensors file holds. Every length in the header is checked
/// against the file before it is used; what does not fit is a corruption error of the
/// file `shown`. https://huggingface.co/docs/safetensors
arrow::Result<SafetensorsHeader> ReadSafetensorsHeader(arrow::io::RandomAccessFile& file,
                                                       const std::string& shown);

}  // namespace coden
