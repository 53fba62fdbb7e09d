#pragma once

#include <cstdint>

namespace coden {

/// N numbers that are computed with together: one vector register or a few, whatever the
/// machine has. The compiler's vector types have the same result, lane by lane, on every
/// machine.
template <typename T, int N>
struct LanesOf {
  typedef T Type __attribute__((vector_size(N * sizeof(T))));
};
template <typename T, int N>
using Lanes = typename LanesOf<T, N>::Type;

template <int N>
[[gnu::always_inline]] inline Lanes<float, N> Abs(Lanes<float, N> value) {
  using Bits = Lanes<std::int32_t, N>;
  return reinterpret_cast<Lanes<float, N>>(reinterpret_cast<Bits>(value) & 0x7fffffff);
}

template <int N>
[[gnu::always_inline]] inline Lanes<double, N> Abs(Lanes<double, N> value) {
  using Bits = Lanes<std::int64_t, N>;
  return reinterpret_cast<Lanes<double, N>>(reinterpret_cast<Bits>(value) &
                                            0x7fffffffffffffff);
}

/// Double arithmetic goes through a block in parts of at most eight lanes.
template <int kWidth>
inline constexpr int kPartWidth = kWidth < 8 ? kWidth : 8;
template <int kWidth>
inline constexpr int kParts = kWidth / kPartWidth<kWidth>;

}  // namespace coden

/// Compile a function for the vector units that machines have; the loader picks one.
/// Clang forgets the templates that a variant calls, and the loader picks before the
/// thread sanitizer is ready to watch it.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define CODEN_VECTOR_VARIANTS [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define CODEN_VECTOR_VARIANTS
#endif
