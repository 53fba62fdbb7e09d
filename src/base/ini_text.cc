#include "coden/base/ini_text.h"

#include <algorithm>

#include "coden/base/error.h"

namespace coden {

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kCommentSigns = "#;";
constexpr std::string_view kQuotes = "\"'";
constexpr std::size_t kCommentWidth = 90;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsOneOf(char letter, std::string_view letters) {
  return letters.find(letter) != std::string_view::npos;
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Where a comment begins in `text`; its length where there is none. `at_start` says that
// `text` begins a line or follows a blank.
std::size_t CommentStart(std::string_view text, bool at_start) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!IsOneOf(text[i], kCommentSigns)) continue;
    if (i == 0 ? at_start : IsOneOf(text[i - 1], kBlanks)) return i;
  }
  return text.size();
}

std::string_view WithoutComment(std::string_view text, bool at_start) {
  return Trimmed(text.substr(0, CommentStart(text, at_start)));
}

template <typename Entry>
Entry* FindByName(std::vector<Entry>& entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

class Parser {
 public:
  explicit Parser(std::string_view shown) : shown_(shown) {}

  arrow::Result<std::vector<IniSection>> Parse(std::string_view text) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    while (!text.empty()) {
      ++line_;
      std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      if (line.ends_with('\r')) line.remove_suffix(1);
      line = Trimmed(line);
      if (line.starts_with('[')) {
        ARROW_RETURN_NOT_OK(ReadSection(line));
      } else if (!WithoutComment(line, /*at_start=*/true).empty()) {
        ARROW_RETURN_NOT_OK(ReadSetting(line));
      }
    }
    return std::move(sections_);
  }

 private:
  template <typename... Args>
  arrow::Status Refuse(Args&&... args) const {
    return UsageError(IniPlace(shown_, line_), std::forward<Args>(args)...);
  }

  arrow::Status ReadSection(std::string_view line) {
    const std::size_t end = line.find(']');
    if (end == std::string_view::npos) {
      return Refuse("a section must end with `]`: '", line, "'");
    }
    const std::string_view rest = line.substr(end + 1);
    if (!WithoutComment(rest, /*at_start=*/false).empty()) {
      return Refuse("only a comment may follow a section, after a blank: '", line, "'");
    }
    const std::string_view name = Trimmed(line.substr(1, end - 1));
    if (name.empty()) return Refuse("a section must have a name: '", line, "'");
    Open(name);
    return arrow::Status::OK();
  }

  void Open(std::string_view name) {
    section_ = FindByName(sections_, name);
    if (section_ != nullptr) return;
    section_ = &sections_.emplace_back(IniSection{std::string(name), {}, line_});
  }

  arrow::Status ReadSetting(std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals >= CommentStart(line, /*at_start=*/true)) {
      return Refuse("a line must be `[section]` or `name = value`: '", line, "'");
    }
    IniSetting setting{std::string(Trimmed(line.substr(0, equals))), {}, line_};
    if (setting.name.empty()) {
      return Refuse("a value must have a name before `=`: '", line, "'");
    }
    ARROW_RETURN_NOT_OK(ReadValue(line.substr(equals + 1), &setting));
    if (section_ == nullptr) Open({});
    if (const IniSetting* other = FindByName(section_->settings, setting.name)) {
      return Refuse("`", section_->name, section_->name.empty() ? "" : ".", setting.name,
                    "` is set twice, first in line ", other->line, "; remove one");
    }
    section_->settings.push_back(std::move(setting));
    return arrow::Status::OK();
  }

  arrow::Status ReadValue(std::string_view text, IniSetting* setting) const {
    const std::string_view whole = Trimmed(text);
    if (whole.empty() || !IsOneOf(whole.front(), kQuotes)) {
      setting->text = std::string(WithoutComment(text, /*at_start=*/false));
      return arrow::Status::OK();
    }
    const char quote = whole.front();
    std::size_t at = 1;
    while (true) {
      const std::size_t end = whole.find(quote, at);
      if (end == std::string_view::npos) {
        return Refuse("a value that begins with ", quote, " must end with it: ", whole);
      }
      setting->text += whole.substr(at, end - at);
      at = end + 1;
      if (at >= whole.size() || whole[at] != quote) break;
      setting->text += quote;
      ++at;
    }
    setting->literal = quote == '\'';
    if (WithoutComment(whole.substr(at), /*at_start=*/false).empty())
      return arrow::Status::OK();
    return Refuse("only a comment may follow a value in quotes, after a blank: ", whole);
  }

  std::string_view shown_;
  int line_ = 0;
  std::vector<IniSection> sections_;
  IniSection* section_ = nullptr;
};

bool NeedsQuotes(std::string_view value) {
  if (value.empty()) return false;
  return IsOneOf(value.front(), kQuotes) || Trimmed(value) != value ||
         CommentStart(value, /*at_start=*/true) < value.size() ||
         value.find("${") != std::string_view::npos;
}

}  // namespace

arrow::Result<std::vector<IniSection>> ParseIni(std::string_view text,
                                                std::string_view shown) {
  return Parser(shown).Parse(text);
}

std::string IniPlace(std::string_view shown, int line) {
  return "'" + std::string(shown) + "', line " + std::to_string(line) + ": ";
}

std::string IniValue(std::string_view value) {
  if (!NeedsQuotes(value)) return std::string(value);
  // Only single quotes keep `${` as it is.
  const bool single = value.find("${") != std::string_view::npos ||
                      value.find('"') != std::string_view::npos;
  const char quote = single ? '\'' : '"';
  std::string text(1, quote);
  for (const char letter : value) {
    text += letter;
    if (letter == quote) text += quote;
  }
  return text + quote;
}

std::string IniComment(std::string_view sentence) {
  std::string text;
  std::string line = "#";
  while (!sentence.empty()) {
    const std::string_view word = sentence.substr(0, sentence.find(' '));
    sentence.remove_prefix(std::min(sentence.size(), word.size() + 1));
    if (line.size() + 1 + word.size() > kCommentWidth && line.size() > 1) {
      text += line + "\n";
      line = "#";
    }
    line += " " + std::string(word);
  }
  return text + line + "\n";
}

std::string WriteIni(std::span<const IniSection> sections) {
  std::string text;
  for (const IniSection& section : sections) {
    text += (text.empty() ? "[" : "\n[") + section.name + "]\n";
    for (const IniSetting& setting : section.settings) {
      text += setting.name + " = " + IniValue(setting.text) + "\n";
    }
  }
  return text;
}

std::string_view FindIniSetting(std::span<const IniSection> sections,
                                std::string_view section, std::string_view name) {
  for (const IniSection& candidate : sections) {
    if (candidate.name != section) continue;
    for (const IniSetting& setting : candidate.settings) {
      if (setting.name == name) return setting.text;
    }
  }
  return {};
}

}  // namespace coden
