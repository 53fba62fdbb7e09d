#pragma once

#include <cstddef>

namespace coden {

/// Zero-filled memory for rows of numbers, aligned to cache lines and on huge pages where
/// the system has them: a sweep gathers rows from all over it, and with small pages most
/// of the gathers would miss the address cache. Pages that were never written take no
/// memory.
class RowBuffer {
 public:
  RowBuffer() = default;
  RowBuffer(RowBuffer&& other) noexcept;
  RowBuffer& operator=(RowBuffer&& other) noexcept;
  RowBuffer(const RowBuffer&) = delete;
  RowBuffer& operator=(const RowBuffer&) = delete;
  ~RowBuffer();

  /// Have at least `bytes`; what is new is zero. Throws std::bad_alloc.
  void Grow(std::size_t bytes);

  template <typename T>
  T* as() {
    return static_cast<T*>(data_);
  }
  template <typename T>
  const T* as() const {
    return static_cast<const T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace coden
