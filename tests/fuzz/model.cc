// What a trained model leaves: weights (safetensors), its configuration, and the state of
// an unfinished training. Any bytes, also behind a length that is right; what is read
// lies inside the file, and reads back the same when it is written again.

#include <algorithm>
#include <cstring>

#include <arrow/util/utf8.h>

#include "bytes.h"
#include "check.h"
#include "train/checkpoint_internal.h"
#include "train/model_files_internal.h"
#include "train/safetensors_internal.h"

namespace coden::fuzz {

namespace {

constexpr const char* kShown = "a file";

void CheckRefusal(const arrow::Status& status) {
  FUZZ_CHECK(IsPlain(status, Fault::kCorruption), status.ToString());
}

/// A header of any text with `data_bytes` bytes behind it.
std::string Framed(std::string header, std::size_t data_bytes) {
  const std::uint64_t size = header.size();
  std::string bytes(sizeof(size), '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  return bytes + std::move(header) + std::string(data_bytes, '\x3f');
}

bool IsSame(const NamedTensor& a, const NamedTensor& b) {
  return a.name == b.name && a.shape == b.shape && a.values.size() == b.values.size() &&
         std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(float)) ==
             0;
}

void CheckWeights(const std::string& bytes) {
  const auto file = FromSafetensors(bytes, kShown);
  if (!file.ok()) return CheckRefusal(file.status());
  std::size_t values = 0;
  for (const NamedTensor& tensor : file->tensors) {
    std::int64_t size = 1;
    for (const std::int64_t extent : tensor.shape) size *= extent;
    FUZZ_CHECK(size == std::ssize(tensor.values), "a shape does not fit its values");
    values += tensor.values.size();
  }
  // Tensors that share bytes would make a small file ask for any amount of memory.
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), sizeof(header_bytes));
  FUZZ_CHECK(values * sizeof(float) <= bytes.size() - sizeof(header_bytes) - header_bytes,
             "more values than the file has");
  const auto again = FromSafetensors(ToSafetensors(file->tensors, file->note), kShown);
  FUZZ_CHECK(again.ok(), again.status().ToString());
  FUZZ_CHECK(again->tensors.size() == file->tensors.size() && again->note == file->note,
             "the weights read back as others");
  // Tensors without values have one place, and no order there.
  for (const NamedTensor& tensor : file->tensors) {
    FUZZ_CHECK(
        std::any_of(again->tensors.begin(), again->tensors.end(),
                    [&](const NamedTensor& other) { return IsSame(tensor, other); }),
        "tensor " + tensor.name + " reads back as another");
  }
}

void CheckConfig(const std::string& text) {
  const auto config = ModelConfigFromJson(text, kShown);
  if (!config.ok()) return CheckRefusal(config.status());
  const std::string written = ToJson(*config);
  const auto again = ModelConfigFromJson(written, kShown);
  FUZZ_CHECK(again.ok(), again.status().ToString());
  FUZZ_CHECK(ToJson(*again) == written, "the configuration reads back as another");
  for (const std::int64_t group : config->ChannelGroups()) {
    FUZZ_CHECK(group >= 0, "a group of fewer than no channels");
  }
}

void CheckCheckpoint(const std::string& bytes) {
  const auto runs = CheckpointFromBytes(bytes, kShown);
  if (!runs.ok()) return CheckRefusal(runs.status());
  const std::string written = CheckpointToBytes(*runs);
  const auto again = CheckpointFromBytes(written, kShown);
  FUZZ_CHECK(again.ok(), again.status().ToString());
  FUZZ_CHECK(CheckpointToBytes(*again) == written, "the training reads back as another");
}

}  // namespace

}  // namespace coden::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coden::fuzz;
  static const bool initialized = [] {
    arrow::util::InitializeUTF8();
    return true;
  }();
  static_cast<void>(initialized);
  Bytes bytes(data, size);
  const int mode = bytes.Below(5);
  const std::size_t data_bytes = mode % 2 == 1 ? bytes.Byte() : 0;
  const std::string rest = bytes.Rest();
  switch (mode) {
    case 0:
      CheckWeights(rest);
      break;
    case 1:
      CheckWeights(Framed(rest, data_bytes));
      break;
    case 2:
      CheckConfig(rest);
      break;
    case 3:
      CheckCheckpoint(Framed(rest, data_bytes));
      break;
    default:
      // The JSON in the metadata, without a second layer of quotes to be guessed.
      if (arrow::util::ValidateUTF8(rest))
        CheckCheckpoint(coden::ToSafetensors({}, rest));
  }
  return 0;
}
