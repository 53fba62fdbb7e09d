#pragma once

#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "train/trained_model_internal.h"

namespace coden {

/// Return tensors in the safetensors format: length of the header (8 bytes, little
/// endian), header (JSON), then the numbers of all tensors one after another. `note` is
/// kept in the header where it is not empty. https://huggingface.co/docs/safetensors
std::string ToSafetensors(std::span<const NamedTensor> tensors,
                          const std::string& note = {});

struct SafetensorsFile {
  std::vector<NamedTensor> tensors;
  std::string note;
};

/// Read tensors of 32-bit floats; anything else is corruption of the file `shown`.
arrow::Result<SafetensorsFile> FromSafetensors(const std::string& bytes,
                                               const std::string& shown);

}  // namespace coden
