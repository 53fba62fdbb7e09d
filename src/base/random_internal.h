// Random numbers that are the same on every machine and with every standard library.
//
// The generator is SplitMix64: a counter that goes up by an odd constant, put through a
// mixing function. It is two multiplications a draw, passes BigCrush, and may start
// anywhere, so a row of a file can have a generator of its own: Random(seed, stream, row)
// gives row i the same numbers whatever came before it. Nothing here calls the maths
// library except sqrt, whose result IEEE 754 fixes to the last bit.
//
// Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
// Marsaglia, Bray: A Convenient Method for Generating Normal Variables, SIAM Review 1964.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

namespace coden {

class SplitMix64 {
 public:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;

  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() { return Mix(state_ += kStep); }

  /// A generator with this seed goes on from here.
  std::uint64_t state() const { return state_; }

  /// Draw from [0, bound).
  std::uint64_t Below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(Next()) * bound) >> 64);
  }

  static std::uint64_t Mix(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  }

 private:
  std::uint64_t state_;
};

/// Put `items` into random order (Fisher-Yates).
inline void Shuffle(std::span<std::int64_t> items, SplitMix64& random) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[random.Below(left)]);
  }
}

/// Draws of many kinds from a generator that is named by three numbers.
class Random {
 public:
  /// Generators that differ in any of the three start at unrelated places.
  Random(std::uint64_t seed, std::uint64_t stream, std::uint64_t row)
      : bits_(SplitMix64::Mix(SplitMix64::Mix(SplitMix64::Mix(seed + SplitMix64::kStep) +
                                              stream * SplitMix64::kStep) +
                              row * SplitMix64::kStep)) {}

  std::uint64_t Bits() { return bits_.Next(); }

  /// In [0, 1), a multiple of 2^-53.
  double Uniform() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }

  /// In [0, bound), for a bound below 2^32: the high half of a product, uneven by less
  /// than bound / 2^32.
  std::uint64_t Below(std::uint64_t bound) { return ((Bits() >> 32) * bound) >> 32; }

  /// Mean 0 and variance 1, by the polar method; the second number of each pair is left.
  double Normal();

 private:
  SplitMix64 bits_;
};

/// Natural logarithm of a positive finite number, to about one unit in the last place:
/// log(2^k m) = k log 2 + 2 artanh((m - 1) / (m + 1)) with m near 1, as a series.
inline double Log(double value) {
  int exponent = 0;
  double mantissa = std::frexp(value, &exponent);
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  const double ratio = (mantissa - 1) / (mantissa + 1);
  const double square = ratio * ratio;
  double series = 0;
  for (int power = 23; power >= 1; power -= 2) series = series * square + 1.0 / power;
  return exponent * 0.69314718055994531 + 2 * ratio * series;
}

inline double Random::Normal() {
  while (true) {
    const double x = 2 * Uniform() - 1;
    const double y = 2 * Uniform() - 1;
    const double square = x * x + y * y;
    if (square > 0 && square < 1) return x * std::sqrt(-2 * Log(square) / square);
  }
}

}  // namespace coden
