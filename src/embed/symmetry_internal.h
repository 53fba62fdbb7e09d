#pragma once

#include <cstdint>

#include "coden/base/types.h"

namespace coden {

/// Whether every arc of a changing graph has its reverse, told from the sum of the hashes
/// of all arcs less that of all reversed arcs, which is kept up to date with the changes.
/// Of 2^64 graphs that are not symmetric, one is taken for one that is.
class Symmetry {
 public:
  bool holds() const { return difference_ == 0; }

  void Add(NodeId src, NodeId dst) { difference_ += Signed(src, dst); }
  void Remove(NodeId src, NodeId dst) { difference_ -= Signed(src, dst); }

 private:
  static std::uint64_t Hash(NodeId src, NodeId dst) {
    std::uint64_t value =
        static_cast<std::uint64_t>(src) << 32 | static_cast<std::uint32_t>(dst);
    value *= 0x9e3779b97f4a7c15;
    value ^= value >> 32;
    value *= 0xd6e8feb86659fd93;
    return value ^ value >> 32;
  }
  static std::uint64_t Signed(NodeId src, NodeId dst) {
    return Hash(src, dst) - Hash(dst, src);
  }

  std::uint64_t difference_ = 0;
};

}  // namespace coden
