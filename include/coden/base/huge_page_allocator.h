#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace coden {

/// Allocate large arrays that are read at random in huge pages, where the system has
/// them: an access then seldom misses the table of pages, and fresh memory comes 2 MiB at
/// a time instead of 4 KiB.
template <typename T>
struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  template <typename U>
  explicit(false) HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kHugePage) return static_cast<T*>(::operator new(bytes));
    const std::size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    void* const memory = std::aligned_alloc(kHugePage, whole);
    if (memory == nullptr) throw std::bad_alloc();
    // Advice only: without huge pages the memory is as good as any.
    ::madvise(memory, whole, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kHugePage) {
      ::operator delete(memory);
    } else {
      std::free(memory);
    }
  }

  bool operator==(const HugePageAllocator&) const = default;

 private:
  static constexpr std::size_t kHugePage = 2 << 20;
};

}  // namespace coden
