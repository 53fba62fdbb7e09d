#include <algorithm>

#include "coden/base/printable.h"
#include "report/text_table_internal.h"

namespace coden {

namespace {

constexpr int kLineWidth = 80;
constexpr int kGap = 2;
constexpr int kNarrowestText = 24;  // a wrapped column stays readable

using TextRow = std::vector<std::string>;

class TextTable {
 public:
  explicit TextTable(const ResultsTable& table) : columns_(table.columns) {
    for (const auto& column : columns_) {
      headers_.push_back(Printable(column.header));
      widths_.push_back(DisplayWidth(headers_.back()));
    }
    rows_ = Measure(table.rows);
    footer_ = Measure(table.footer);
    Fit();
  }

  std::string Write(std::string_view title) {
    if (!title.empty()) text_ += Printable(title, PrintableMode::kMultiLine) + "\n\n";
    WriteRow(headers_);
    WriteRule();
    for (const auto& row : rows_) WriteRow(row);
    if (!footer_.empty()) WriteRule();
    for (const auto& row : footer_) WriteRow(row);
    return std::move(text_);
  }

 private:
  std::vector<TextRow> Measure(const std::vector<std::vector<Cell>>& rows) {
    std::vector<TextRow> measured;
    for (const auto& row : rows) {
      TextRow texts(columns_.size());
      for (std::size_t i = 0; i < std::min(row.size(), columns_.size()); ++i) {
        texts[i] = CellText(columns_[i], row[i]);
        widths_[i] = std::max(widths_[i], DisplayWidth(texts[i]));
      }
      measured.push_back(std::move(texts));
    }
    return measured;
  }

  bool is_text(std::size_t i) const { return IsText(columns_[i]); }

  // Narrow the widest text column until a line fits.
  void Fit() {
    int total = -kGap;
    for (const int width : widths_) total += width + kGap;
    while (total > kLineWidth) {
      int* widest = nullptr;
      for (std::size_t i = 0; i < widths_.size(); ++i) {
        const int floor = std::max(kNarrowestText, DisplayWidth(headers_[i]));
        if (is_text(i) && widths_[i] > floor && (!widest || widths_[i] > *widest)) {
          widest = &widths_[i];
        }
      }
      if (widest == nullptr) return;
      --*widest;
      --total;
    }
  }

  void WriteRule() {
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      if (i > 0) text_.append(kGap, ' ');
      text_.append(static_cast<std::size_t>(widths_[i]), '-');
    }
    text_ += '\n';
  }

  // One row is as many lines as its longest wrapped cell.
  void WriteRow(const TextRow& row) {
    std::vector<std::vector<std::string>> cells;
    std::size_t num_lines = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      // The last column may stick out: a path that is cut cannot be copied.
      const bool is_last = i + 1 == row.size();
      cells.push_back(WrapText(row[i], widths_[i], /*cut_words=*/!is_last));
      num_lines = std::max(num_lines, cells.back().size());
    }
    for (std::size_t line = 0; line < num_lines; ++line) {
      std::string out;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string part = line < cells[i].size() ? cells[i][line] : std::string();
        const auto padding =
            static_cast<std::size_t>(std::max(0, widths_[i] - DisplayWidth(part)));
        if (i > 0) out.append(kGap, ' ');
        if (!is_text(i)) out.append(padding, ' ');
        out += part;
        if (is_text(i)) out.append(padding, ' ');
      }
      out.erase(out.find_last_not_of(' ') + 1);
      text_ += out + '\n';
    }
  }

  const std::vector<TableColumn>& columns_;
  TextRow headers_;
  std::vector<int> widths_;
  std::vector<TextRow> rows_;
  std::vector<TextRow> footer_;
  std::string text_;
};

// A record as people see it: a line for each of its columns.
ResultsTable FactsOf(const ResultsTable& record) {
  ResultsTable facts;
  facts.columns = {{"property", "property"}, {"value", "value"}};
  for (const auto& row : record.rows) {
    for (std::size_t i = 0; i < std::min(row.size(), record.columns.size()); ++i) {
      facts.rows.push_back(
          {record.columns[i].header, CellText(record.columns[i], row[i])});
    }
  }
  return facts;
}

// Bytes at the start of `text` that fill `width` columns, whole code points, at least
// one.
std::size_t BytesThatFit(std::string_view text, int width) {
  std::size_t end = 0;
  while (end < text.size()) {
    std::size_t next = end + 1;
    while (next < text.size() &&
           (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) {
      ++next;
    }
    if (end > 0 && DisplayWidth(text.substr(0, next)) > width) break;
    end = next;
  }
  return end;
}

}  // namespace

std::vector<std::string> WrapText(std::string_view text, int width, bool cut_words) {
  if (DisplayWidth(text) <= width) return {std::string(text)};
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!line.empty() && DisplayWidth(line) + 1 + DisplayWidth(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    for (std::size_t fit; cut_words && (fit = BytesThatFit(word, width)) < word.size();) {
      lines.emplace_back(word.substr(0, fit));
      word.remove_prefix(fit);
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string RenderTextTable(const ResultsTable& table) {
  if (table.is_record) {
    const ResultsTable facts = FactsOf(table);
    return TextTable(facts).Write(table.title);
  }
  return TextTable(table).Write(table.title);
}

}  // namespace coden
