#include "coden/store/hasher.h"

#include <xxhash.h>

#include <cstdio>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

namespace coden {

struct Hasher::State {
  State() : xxh3(XXH3_createState()) { XXH3_64bits_reset(xxh3); }
  ~State() { XXH3_freeState(xxh3); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  XXH3_state_t* xxh3;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::Update(const void* data, std::size_t size) {
  XXH3_64bits_update(state_->xxh3, data, size);
}

std::string Hasher::Digest() const {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(XXH3_64bits_digest(state_->xxh3)));
  return digits;
}

arrow::Result<std::string> HashFile(arrow::io::RandomAccessFile& file) {
  constexpr std::int64_t kChunkBytes = 4 << 20;
  Hasher hasher;
  ARROW_ASSIGN_OR_RAISE(const std::int64_t size, file.GetSize());
  for (std::int64_t offset = 0; offset < size; offset += kChunkBytes) {
    ARROW_ASSIGN_OR_RAISE(const auto chunk, file.ReadAt(offset, kChunkBytes));
    hasher.Update(chunk->data(), static_cast<std::size_t>(chunk->size()));
  }
  return hasher.Digest();
}

std::string HashOf(const void* data, std::size_t size) {
  Hasher hasher;
  hasher.Update(data, size);
  return hasher.Digest();
}

}  // namespace coden
