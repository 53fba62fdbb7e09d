#include "coden/store/hasher.h"

#include <xxhash.h>

#include <cstdio>

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

std::string HashOf(const void* data, std::size_t size) {
  Hasher hasher;
  hasher.Update(data, size);
  return hasher.Digest();
}

}  // namespace coden
