#include "embed/row_buffer_internal.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace coden {

namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;

}  // namespace

RowBuffer::RowBuffer(RowBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)) {}

RowBuffer& RowBuffer::operator=(RowBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

RowBuffer::~RowBuffer() {
  if (data_ != nullptr) ::munmap(data_, capacity_);
}

void RowBuffer::Grow(std::size_t bytes) {
  if (bytes <= capacity_) return;
  // Room for half as much again, so that growing node by node stays linear.
  const std::size_t wanted = std::max(bytes, capacity_ + capacity_ / 2);
  const std::size_t capacity = (wanted + kHugePage - 1) / kHugePage * kHugePage;
  void* data = data_ == nullptr
                   ? ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                   : ::mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) throw std::bad_alloc();
  data_ = data;
  capacity_ = capacity;
  // Advice only: without huge pages everything still works, more slowly. Small buffers
  // would waste most of a huge page.
  if (bytes >= 2 * kHugePage) ::madvise(data_, capacity_, MADV_HUGEPAGE);
}

}  // namespace coden
