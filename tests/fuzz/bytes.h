#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

namespace coden::fuzz {

/// Make choices and values of the bytes of a fuzzer, from the front. Where they end
/// everything is zero, so that a short input is a simple case.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size)
      : left_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return left_.empty(); }

  std::uint8_t Byte() {
    if (left_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    return byte;
  }

  bool Flag() { return (Byte() & 1) != 0; }

  /// A number from 0 to `count` - 1; `count` is at most 256.
  int Below(int count) { return Byte() % count; }

  template <typename T, std::size_t kSize>
  const T& Pick(const std::array<T, kSize>& values) {
    return values[static_cast<std::size_t>(Below(static_cast<int>(kSize)))];
  }

  /// Any value of a plain type, by its bits.
  template <typename Number>
  Number Bits() {
    std::array<char, sizeof(Number)> bits{};
    const std::size_t size = std::min(left_.size(), bits.size());
    std::copy_n(left_.data(), size, bits.data());
    left_.remove_prefix(size);
    Number number;
    std::memcpy(&number, bits.data(), sizeof(number));
    return number;
  }

  /// Mostly a small number; sometimes one at an edge of a type, sometimes any.
  std::int64_t Integer() {
    using Limits32 = std::numeric_limits<std::int32_t>;
    using Limits64 = std::numeric_limits<std::int64_t>;
    constexpr std::array<std::int64_t, 12> kEdges = {-1,
                                                     -2,
                                                     Limits32::max(),
                                                     Limits32::min(),
                                                     Limits32::max() + std::int64_t{1},
                                                     Limits64::max(),
                                                     Limits64::max() - 1,
                                                     Limits64::min(),
                                                     1 << 16,
                                                     255,
                                                     127,
                                                     std::int64_t{1} << 53};
    const int choice = Byte();
    if (choice < 224) return choice % 16;
    return choice < 248 ? Pick(kEdges) : Bits<std::int64_t>();
  }

  /// A text of at most `longest` bytes.
  std::string Text(int longest) {
    const auto wanted = static_cast<std::size_t>(Below(longest + 1));
    const std::size_t size = std::min(left_.size(), wanted);
    std::string text(left_.substr(0, size));
    left_.remove_prefix(size);
    return text;
  }

  /// All that is left.
  std::string Rest() {
    std::string rest(left_);
    left_ = {};
    return rest;
  }

 private:
  std::string_view left_;
};

}  // namespace coden::fuzz
