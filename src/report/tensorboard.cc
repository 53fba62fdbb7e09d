// TensorBoard's event files, written by hand: two small formats, for which the packages
// that write them would bring Python or TensorFlow.
//
// A file is a sequence of records: length (8 bytes), checksum of the length (4), data,
// checksum of the data (4), all little-endian. A checksum is CRC-32C, rotated and moved
// by a constant, so that data which hold checksums themselves do not look like their own.
// The data of a record are an `Event` in protocol buffers' encoding, of which we use
//
//     Event   { double wall_time = 1; int64 step = 2; string file_version = 3;
//               Summary summary = 5; }
//     Summary { repeated Value value = 1; }
//     Value   { string tag = 1; float simple_value = 2; }

#include "coden/report/tensorboard.h"

#include <array>
#include <bit>
#include <cstring>

namespace coden {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kCastagnoli = 0x82f63b78;  // CRC-32C, bits reversed
constexpr std::uint32_t kMaskDelta = 0xa282ead8;

constexpr std::array<std::uint32_t, 256> CrcTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit)
      rest = (rest >> 1) ^ ((rest & 1u) != 0 ? kCastagnoli : 0u);
    table[byte] = rest;
  }
  return table;
}

std::uint32_t MaskedCrc(const std::string& bytes) {
  static constexpr auto kTable = CrcTable();
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes)
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return std::rotr(~crc, 15) + kMaskDelta;
}

template <typename Number>
void AppendFixed(Number number, std::string* out) {
  char bytes[sizeof(Number)];
  std::memcpy(bytes, &number, sizeof(Number));
  out->append(bytes, sizeof(Number));
}

void AppendVarint(std::uint64_t number, std::string* out) {
  for (; number >= 0x80; number >>= 7)
    out->push_back(static_cast<char>((number & 0x7f) | 0x80));
  out->push_back(static_cast<char>(number));
}

enum class Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void AppendKey(int field, Wire wire, std::string* out) {
  AppendVarint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(wire),
               out);
}

void AppendBytes(int field, const std::string& bytes, std::string* out) {
  AppendKey(field, Wire::kBytes, out);
  AppendVarint(bytes.size(), out);
  out->append(bytes);
}

void AppendRecord(const std::string& data, std::string* out) {
  std::string length;
  AppendFixed(static_cast<std::uint64_t>(data.size()), &length);
  out->append(length);
  AppendFixed(MaskedCrc(length), out);
  out->append(data);
  AppendFixed(MaskedCrc(data), out);
}

std::string EventAt(double wall_time) {
  std::string event;
  AppendKey(1, Wire::kFixed64, &event);
  AppendFixed(wall_time, &event);
  return event;
}

}  // namespace

std::string TensorboardEvents(std::span<const ScalarEvent> events) {
  std::string file;
  std::string version = EventAt(events.empty() ? 0.0 : events.front().wall_time);
  AppendBytes(3, "brain.Event:2", &version);
  AppendRecord(version, &file);
  for (const ScalarEvent& scalar : events) {
    std::string value;
    AppendBytes(1, scalar.tag, &value);
    AppendKey(2, Wire::kFixed32, &value);
    AppendFixed(scalar.value, &value);
    std::string summary;
    AppendBytes(1, value, &summary);
    std::string event = EventAt(scalar.wall_time);
    AppendKey(2, Wire::kVarint, &event);
    AppendVarint(static_cast<std::uint64_t>(scalar.step), &event);
    AppendBytes(5, summary, &event);
    AppendRecord(event, &file);
  }
  return file;
}

}  // namespace coden
