#include "coden/base/printable.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

namespace coden {

namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t size = 0;  ///< bytes it takes; 0: the byte here starts no valid sequence
};

// The code point at the start of `text`, which is not empty. Overlong forms, surrogates
// and values past U+10FFFF are not valid.
CodePoint Decode(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  char32_t value = lead & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[size] || value > 0x10FFFF || surrogate) return {};
  return {value, size};
}

struct Range {
  char32_t first, last;
};

bool IsIn(char32_t value, std::span<const Range> ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [value](Range range) {
    return value >= range.first && value <= range.last;
  });
}

// Control characters past ASCII, line separators, direction marks, invisible characters.
constexpr Range kUnsafe[] = {{0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},
                             {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
                             {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
constexpr Range kCombining[] = {{0x300, 0x36F},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
                                {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                           {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                           {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
                           {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};

std::string Hexadecimal(char32_t value, int digits) {
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[(value >> shift) & 0xF];
  }
  return text;
}

std::string EscapedControl(char32_t value) {
  switch (value) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return "\\x" + Hexadecimal(value, 2);
  }
}

// Whether a parameter of a URI is one to hide: secret_key, sas_token, sig...
bool IsSecretName(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view part :
       {"key", "secret", "token", "password", "credential"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  return name == "sig" || name == "signature";
}

// Put *** in place of the values of secret parameters (?secret_key=...&region=...).
std::string MaskParameters(std::string_view uri) {
  // A URI inside a URI (endpoint_override=http://...) leaves a tail without question
  // mark.
  std::size_t begin = uri.find_first_of("?&");
  if (begin == std::string_view::npos) return std::string(uri);
  std::string masked(uri.substr(0, begin));
  while (begin != std::string_view::npos) {
    const std::size_t end = uri.find('&', begin + 1);
    const std::string_view parameter = uri.substr(begin, end - begin);
    const std::size_t equals = parameter.find('=');
    if (equals != std::string_view::npos &&
        IsSecretName(std::string(parameter.substr(1, equals - 1)))) {
      masked += std::string(parameter.substr(0, equals + 1)) + "***";
    } else {
      masked += parameter;
    }
    begin = end;
  }
  return masked;
}

}  // namespace

std::string Printable(std::string_view text, PrintableMode mode) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = Decode(text);
    if (point.size == 0) {
      shown += "\\x" + Hexadecimal(static_cast<unsigned char>(text[0]), 2);
      text.remove_prefix(1);
      continue;
    }
    const bool is_break =
        point.value == '\n' || point.value == '\r' || point.value == '\t';
    const bool keep = mode == PrintableMode::kEncoded ||
                      (is_break && mode == PrintableMode::kMultiLine);
    if (!keep && point.value < 0x20) {
      shown += EscapedControl(point.value);
    } else if (!keep && IsIn(point.value, kUnsafe)) {
      shown += "\\u{" + Hexadecimal(point.value, point.value > 0xFFFF ? 5 : 4) + "}";
    } else {
      shown += text.substr(0, point.size);
    }
    text.remove_prefix(point.size);
  }
  return shown;
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const CodePoint point = Decode(text);
    if (IsIn(point.value, kWide)) {
      width += 2;
    } else if (!IsIn(point.value, kCombining)) {
      ++width;
    }
    text.remove_prefix(std::max<std::size_t>(point.size, 1));
  }
  return width;
}

std::string MaskCredentials(std::string_view text) {
  std::string masked;
  while (true) {
    const std::size_t scheme_end = text.find("://");
    if (scheme_end == std::string_view::npos) break;
    const std::size_t start = scheme_end + 3;
    masked += text.substr(0, start);
    text.remove_prefix(start);
    std::string_view uri = text.substr(0, text.find_first_of(" \t\n\"'"));
    uri = uri.substr(0, uri.find("://"));
    text.remove_prefix(uri.size());
    // A secret may itself hold a slash, so the last @ before a space or a quote counts.
    const std::size_t at = uri.rfind('@');
    if (at != std::string_view::npos && uri.find(':') < at) {
      masked += "***";
      uri.remove_prefix(at);
    }
    masked += MaskParameters(uri);
  }
  return masked += text;
}

std::string FormatFixed(double value, int digits) {
  if (!std::isfinite(value)) return {};
  std::array<char, 512> buffer;
  digits = std::clamp(digits, 0, 17);
  const auto end =
      std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::fixed, digits)
          .ptr;
  std::string text(buffer.begin(), end);
  const bool is_zero = text.find_first_of("123456789") == std::string::npos;
  if (is_zero && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string FormatScientific(double value, int digits) {
  if (!std::isfinite(value)) return {};
  std::array<char, 64> buffer;
  return {buffer.begin(), std::to_chars(buffer.begin(), buffer.end(), value,
                                        std::chars_format::scientific, digits)
                              .ptr};
}

std::string FormatShortest(double value) {
  if (!std::isfinite(value)) return {};
  std::array<char, 64> buffer;
  return {buffer.begin(), std::to_chars(buffer.begin(), buffer.end(), value).ptr};
}

std::string FormatCount(std::int64_t value) {
  std::string text = std::to_string(value);
  const std::ptrdiff_t first = value < 0 ? 1 : 0;
  for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > first; i -= 3) {
    text.insert(static_cast<std::size_t>(i), 1, ',');
  }
  return text;
}

std::string FormatBytes(std::int64_t bytes) {
  constexpr std::int64_t kMegabyte = 1'000'000;
  if (bytes < 100 * kMegabyte) {
    const double tenths = std::ceil(static_cast<double>(bytes) / (0.1 * kMegabyte));
    return FormatFixed(0.1 * tenths, /*digits=*/1) + " MB";
  }
  return FormatCount((bytes + kMegabyte - 1) / kMegabyte) + " MB";
}

std::string FormatSeconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0.0 || seconds > 1e12) return {};
  if (seconds < 9.995) return FormatFixed(seconds, 2) + " s";
  if (seconds < 99.95) return FormatFixed(seconds, 1) + " s";
  const auto whole = std::llround(seconds);
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  }
  const auto minutes = std::llround(seconds / 60.0);
  return FormatCount(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

std::string CountOf(std::int64_t value, std::string_view noun) {
  return FormatCount(value) + " " + std::string(noun);
}

}  // namespace coden
