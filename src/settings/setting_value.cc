#include <algorithm>

#include "settings/setting_value_internal.h"

namespace coden::setting_value {

std::string FormatReal(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end);
}

std::vector<std::string_view> SplitText(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    std::string_view part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<bool> Boolean::Parse(std::string_view text) const {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::string Real::rule() const {
  if (std::isinf(high))
    return (ends == kOpen ? "a number above " : "a number from ") + FormatReal(low);
  return std::string("a number in ") + (ends == kOpen ? "(" : "[") + FormatReal(low) +
         ", " + FormatReal(high) + (ends == kClosed ? "]" : ")");
}

std::optional<double> Real::Parse(std::string_view text) const {
  const auto number = ParseNumber<double>(text);
  if (!number || !std::isfinite(*number)) return std::nullopt;
  if (*number < low || *number > high) return std::nullopt;
  if (ends == kOpen && *number == low) return std::nullopt;
  if (ends != kClosed && *number == high) return std::nullopt;
  return number;
}

std::optional<std::int64_t> ByteSize::Parse(std::string_view text) const {
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"GB", 1'000'000'000}, {"MB", 1'000'000}, {"kB", 1'000}, {"B", 1}};
  std::int64_t unit = 1;
  for (const auto& [suffix, size] : kUnits) {
    if (text.ends_with(suffix)) {
      text.remove_suffix(suffix.size());
      unit = size;
      break;
    }
  }
  const auto number = ParseNumber<double>(text);
  if (!number || !(*number >= 0) || *number * static_cast<double>(unit) > 1e18) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number * static_cast<double>(unit));
}

std::string ByteSize::Format(std::int64_t value) const {
  if (value != 0 && value % 1'000'000 == 0)
    return std::to_string(value / 1'000'000) + "MB";
  return std::to_string(value);
}

std::optional<InitialGraph> Initial::Parse(std::string_view text) const {
  if (text.find('.') == std::string_view::npos) {
    const auto time = ParseNumber<EventTime>(text);
    if (!time || *time < 0) return std::nullopt;
    return InitialBefore{*time};
  }
  const auto fraction = ParseNumber<double>(text);
  if (!fraction || !(*fraction >= 0.0 && *fraction <= 1.0)) return std::nullopt;
  return InitialFraction{*fraction};
}

std::string Initial::Format(const InitialGraph& value) const {
  if (const auto* before = std::get_if<InitialBefore>(&value))
    return std::to_string(before->time);
  // Never with an exponent: the point is what tells a fraction from a time.
  char buffer[400];
  const double fraction = std::get<InitialFraction>(value).fraction;
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof(buffer), fraction, std::chars_format::fixed);
  const std::string text(buffer, end);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::optional<std::vector<EventTime>> TimeList::Parse(std::string_view text) const {
  std::vector<EventTime> times;
  if (text.empty()) return times;
  for (const std::string_view part : SplitText(text, ',')) {
    const auto time = ParseNumber<EventTime>(part);
    if (!time || (!times.empty() && *time <= times.back())) return std::nullopt;
    times.push_back(*time);
  }
  return times;
}

std::string TimeList::Format(const std::vector<EventTime>& value) const {
  std::string text;
  for (const EventTime time : value)
    text += (text.empty() ? "" : ", ") + std::to_string(time);
  return text;
}

std::optional<std::vector<double>> RealList::Parse(std::string_view text) const {
  std::vector<double> numbers;
  if (text.empty()) return numbers;
  for (const std::string_view part : SplitText(text, ',')) {
    const auto number = ParseNumber<double>(part);
    if (!number || !(*number >= low && *number < high)) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::string RealList::Format(const std::vector<double>& value) const {
  std::string text;
  for (const double number : value)
    text += (text.empty() ? "" : ", ") + FormatReal(number);
  return text;
}

std::optional<ModelInputs> Inputs::Parse(std::string_view text) const {
  ModelInputs inputs{false, false};
  if (text == "none") return inputs;
  for (const std::string_view part : SplitText(text, ',')) {
    bool* named = part == "embedding"  ? &inputs.embedding
                  : part == "features" ? &inputs.features
                                       : nullptr;
    if (named == nullptr || *named) return std::nullopt;
    *named = true;
  }
  return inputs;
}

std::string Inputs::Format(const ModelInputs& value) const {
  if (!value.embedding) return value.features ? "features" : "none";
  return value.features ? "embedding, features" : "embedding";
}

std::optional<std::optional<ColumnRange>> Columns::Parse(std::string_view text) const {
  if (text.empty()) return std::optional<ColumnRange>();
  const auto parts = SplitText(text, ':');
  if (parts.size() != 2) return std::nullopt;
  const auto begin = ParseNumber<int>(parts[0]);
  const auto end = ParseNumber<int>(parts[1]);
  if (!begin || !end || *begin < 0 || *end <= *begin) return std::nullopt;
  return ColumnRange{*begin, *end};
}

std::string Columns::Format(const std::optional<ColumnRange>& value) const {
  return value ? std::to_string(value->begin) + ":" + std::to_string(value->end)
               : std::string();
}

std::optional<SplitShares> Split::Parse(std::string_view text) const {
  const auto parts = SplitText(text, '/');
  if (parts.size() != 3) return std::nullopt;
  const auto train = ParseNumber<double>(parts[0]);
  const auto validate = ParseNumber<double>(parts[1]);
  const auto test = ParseNumber<double>(parts[2]);
  if (!train || !validate || !test) return std::nullopt;
  if (!(*train > 0 && *validate >= 0 && *test > 0)) return std::nullopt;
  if (std::abs(*train + *validate + *test - 1.0) > 1e-9) return std::nullopt;
  return SplitShares{*train, *validate, *test};
}

std::string Split::Format(const SplitShares& value) const {
  return FormatReal(value.train) + "/" + FormatReal(value.validate) + "/" +
         FormatReal(value.test);
}

}  // namespace coden::setting_value
