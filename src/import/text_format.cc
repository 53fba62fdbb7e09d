#include "import/text_format_internal.h"

#include <algorithm>
#include <map>

#include "import/column_choice_internal.h"
#include "import/field_values_internal.h"

namespace coden::importing {

namespace {

constexpr std::size_t kMostLines = 200;

bool IsBlank(char letter) { return letter == ' ' || letter == '\t'; }

// Whether the fields of all rows but the first, which may be a header, are numbers.
bool AllNumbers(std::span<const std::string_view> lines, char delimiter) {
  for (std::size_t i = lines.size() > 1 ? 1 : 0; i < lines.size(); ++i) {
    for (const std::string& field : SplitLine(lines[i], delimiter)) {
      if (!IsNumber(field)) return false;
    }
  }
  return true;
}

struct Agreement {
  std::size_t num_lines = 0;  // that have the usual number of fields
  std::size_t num_fields = 0;
};

Agreement AgreementOn(char delimiter, std::span<const std::string_view> lines) {
  std::map<std::size_t, std::size_t> lines_by_fields;
  for (const std::string_view line : lines) {
    ++lines_by_fields[SplitLine(line, delimiter).size()];
  }
  Agreement best;
  for (const auto& [num_fields, num_lines] : lines_by_fields) {
    if (num_lines >= best.num_lines) best = {num_lines, num_fields};
  }
  return best;
}

char FindDelimiter(std::span<const std::string_view> lines) {
  char found = kBlanks;
  Agreement best;
  for (const char candidate : {',', '\t', ';'}) {
    const Agreement agreement = AgreementOn(candidate, lines);
    if (agreement.num_fields < 2 || 2 * agreement.num_lines <= lines.size()) continue;
    if (std::pair(agreement.num_lines, agreement.num_fields) >
        std::pair(best.num_lines, best.num_fields)) {
      best = agreement;
      found = candidate;
    }
  }
  const Agreement blanks = AgreementOn(kBlanks, lines);
  if (blanks.num_fields > best.num_fields && AllNumbers(lines, kBlanks)) return kBlanks;
  return found;
}

bool FindHeader(std::span<const std::vector<std::string>> rows) {
  if (NamesBothEnds(rows.front())) return true;
  if (rows.size() < 2) return false;
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    const std::string& first = rows.front()[column];
    if (first.empty() || IsNumber(first) || IsDate(first)) continue;
    const bool others_differ = std::all_of(
        rows.begin() + 1, rows.end(), [&](const std::vector<std::string>& row) {
          return column < row.size() && (IsNumber(row[column]) || IsDate(row[column]));
        });
    if (others_differ) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> SplitLine(std::string_view line, char delimiter) {
  std::vector<std::string> fields;
  if (delimiter == kBlanks) {
    for (std::size_t i = 0; i < line.size();) {
      const std::size_t begin = line.find_first_not_of(" \t", i);
      if (begin == std::string_view::npos) break;
      i = std::min(line.find_first_of(" \t", begin), line.size());
      fields.emplace_back(line.substr(begin, i - begin));
    }
    return fields;
  }
  fields.emplace_back();
  bool quoted = false;
  for (const char letter : line) {
    if (letter == '"') {
      quoted = !quoted;
    } else if (letter == delimiter && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += letter;
    }
  }
  for (std::string& field : fields) field = Trimmed(field);
  return fields;
}

bool IsComment(std::string_view line, std::string_view comments) {
  const auto begin = std::find_if_not(line.begin(), line.end(), IsBlank);
  return begin != line.end() && comments.find(*begin) != std::string_view::npos;
}

std::vector<std::string_view> RowLines(std::string_view text, bool whole,
                                       std::string_view comments) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < kMostLines) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos && !whole) break;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!Trimmed(line).empty() && !IsComment(line, comments)) lines.push_back(line);
  }
  return lines;
}

TextFormat FindFormat(std::span<const std::string_view> lines, char delimiter,
                      HeaderRow header) {
  TextFormat format;
  format.delimiter = delimiter == '\0' ? FindDelimiter(lines) : delimiter;
  std::vector<std::vector<std::string>> rows;
  for (const std::string_view line : lines) {
    rows.push_back(SplitLine(line, format.delimiter));
  }
  format.header =
      header == HeaderRow::kAuto ? FindHeader(rows) : header == HeaderRow::kYes;
  if (format.header) format.names = rows.front();
  const std::size_t first_row = format.header && lines.size() > 1 ? 1 : 0;
  format.num_fields = static_cast<int>(
      AgreementOn(format.delimiter, lines.subspan(first_row)).num_fields);
  return format;
}

}  // namespace coden::importing
