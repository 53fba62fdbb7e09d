#include "coden/store/hasher.h"

#include <random>

#include <gtest/gtest.h>

namespace coden {
namespace {

TEST(Hasher, IsTheXxh3OfTheBytes) {
  // As xxhsum -H3 prints them.
  EXPECT_EQ(HashOf("", 0), "2d06800538d394c2");
  EXPECT_EQ(HashOf("coden", 5), "353a12fe9ff7891a");
}

TEST(Hasher, DoesNotDependOnTheCuts) {
  std::mt19937 random(1);
  std::string bytes(10'000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  const std::string whole = HashOf(bytes.data(), bytes.size());
  for (int round = 0; round < 20; ++round) {
    Hasher hasher;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = std::min<std::size_t>(random() % 700, bytes.size() - at);
      hasher.Update(bytes.data() + at, size);
      at += size;
    }
    EXPECT_EQ(hasher.Digest(), whole);
  }
}

TEST(Hasher, GoesOnAfterADigest) {
  Hasher hasher;
  hasher.Update("co", 2);
  EXPECT_EQ(hasher.Digest(), HashOf("co", 2));
  Hasher moved = std::move(hasher);
  moved.Update("den", 3);
  EXPECT_EQ(moved.Digest(), HashOf("coden", 5));
}

TEST(Hasher, SeesEveryBit) {
  std::string bytes(40, 'a');
  const std::string before = HashOf(bytes.data(), bytes.size());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_NE(HashOf(bytes.data(), bytes.size()), before);
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
}

}  // namespace
}  // namespace coden
