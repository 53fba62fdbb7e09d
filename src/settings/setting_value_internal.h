// The types a setting can have. Each knows its rule in words, how to read a value from
// text (nothing where the rule is broken) and how to write it so that reading gives it
// back.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coden/settings/embed_options.h"
#include "coden/settings/partition_options.h"
#include "coden/settings/train_options.h"

namespace coden::setting_value {

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The shortest text that reads back as the same number.
std::string FormatReal(double value);

std::vector<std::string_view> SplitText(std::string_view text, char separator);

struct Text {
  std::string rule() const { return "text"; }
  std::optional<std::string> Parse(std::string_view text) const {
    return std::string(text);
  }
  std::string Format(const std::string& value) const { return value; }
};

struct Boolean {
  std::string rule() const { return "true or false"; }
  std::optional<bool> Parse(std::string_view text) const;
  std::string Format(bool value) const { return value ? "true" : "false"; }
};

template <typename Number>
struct Integer {
  Number low;
  Number high;

  std::string rule() const {
    if (high == std::numeric_limits<Number>::max()) {
      return "a whole number from " + std::to_string(low);
    }
    return "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  }
  std::optional<Number> Parse(std::string_view text) const {
    const auto number = ParseNumber<Number>(text);
    if (!number || *number < low || *number > high) return std::nullopt;
    return number;
  }
  std::string Format(Number value) const { return std::to_string(value); }
};

struct Real {
  enum Ends { kOpen, kHalfOpen, kClosed };  // (low, high), [low, high), [low, high]

  double low;
  double high;
  Ends ends;

  std::string rule() const;
  std::optional<double> Parse(std::string_view text) const;
  std::string Format(double value) const { return FormatReal(value); }
};

template <typename Enum>
struct Choice {
  std::vector<std::pair<std::string, Enum>> names;

  std::string rule() const {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i].first;
    }
    return text;
  }
  std::optional<Enum> Parse(std::string_view text) const {
    for (const auto& [name, value] : names) {
      if (name == text) return value;
    }
    return std::nullopt;
  }
  std::string Format(Enum value) const {
    for (const auto& [name, candidate] : names) {
      if (candidate == value) return name;
    }
    return {};
  }
};

struct ByteSize {
  std::string rule() const { return "a size such as 512MB or 8GB, or 0"; }
  std::optional<std::int64_t> Parse(std::string_view text) const;
  std::string Format(std::int64_t value) const;
};

struct Initial {
  std::string rule() const {
    return "a fraction from 0.0 to 1.0 (with its point), or a time as a whole number";
  }
  std::optional<InitialGraph> Parse(std::string_view text) const;
  std::string Format(const InitialGraph& value) const;
};

struct TimeList {
  std::string rule() const { return "whole numbers that rise, with commas between them"; }
  std::optional<std::vector<EventTime>> Parse(std::string_view text) const;
  std::string Format(const std::vector<EventTime>& value) const;
};

/// Numbers in [low, high).
struct RealList {
  double low;
  double high;

  std::string rule() const {
    return "numbers in [" + FormatReal(low) + ", " + FormatReal(high) +
           ") with commas between them, or empty";
  }
  std::optional<std::vector<double>> Parse(std::string_view text) const;
  std::string Format(const std::vector<double>& value) const;
};

struct Inputs {
  std::string rule() const {
    return "embedding, features, both with a comma between them, or none";
  }
  std::optional<ModelInputs> Parse(std::string_view text) const;
  std::string Format(const ModelInputs& value) const;
};

struct Columns {
  std::string rule() const { return "a slice such as 0:32, or empty for all"; }
  std::optional<std::optional<ColumnRange>> Parse(std::string_view text) const;
  std::string Format(const std::optional<ColumnRange>& value) const;
};

struct Split {
  std::string rule() const {
    return "three shares that add up to 1, such as 0.7/0.1/0.2";
  }
  std::optional<SplitShares> Parse(std::string_view text) const;
  std::string Format(const SplitShares& value) const;
};

}  // namespace coden::setting_value
