#include "report/class_scores_internal.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <set>

#include <arrow/table.h>
#include <arrow/type.h>

#include "base/table_column_internal.h"

namespace coden {

namespace {

constexpr const char* kFile = "predictions.parquet";

std::optional<std::int64_t> AsNumber(const std::string& text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

bool ComesBefore(const std::string& a, const std::string& b) {
  const auto number_a = AsNumber(a), number_b = AsNumber(b);
  if (number_a && number_b && *number_a != *number_b) return *number_a < *number_b;
  if (number_a.has_value() != number_b.has_value()) return number_a.has_value();
  return a < b;
}

struct ClassTotals {
  std::vector<std::int64_t> right, wanted, predicted;
};

ClassTotals Totals(const ClassCounts& counts) {
  const std::vector<std::int64_t> zeros(counts.names.size(), 0);
  ClassTotals totals{zeros, zeros, zeros};
  for (const auto& [pair, count] : counts.pairs) {
    totals.wanted[pair.first] += count;
    totals.predicted[pair.second] += count;
    if (pair.first == pair.second) totals.right[pair.first] += count;
  }
  return totals;
}

Cell Share(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return {};
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::size_t ClassCounter::NumberOf(const std::string& name) {
  const auto [entry, is_new] = numbers_.try_emplace(name, names_.size());
  if (is_new) names_.push_back(name);
  return entry->second;
}

arrow::Result<std::vector<std::size_t>> ClassCounter::NumbersOf(
    const arrow::Table& table, const std::string& column) {
  const auto found = table.GetColumnByName(column);
  std::vector<std::size_t> numbers;
  if (found != nullptr && found->type()->id() == arrow::Type::STRING) {
    ARROW_ASSIGN_OR_RAISE(const auto values, TextColumn(table, kFile, column));
    for (const auto value : values) numbers.push_back(NumberOf(std::string(value)));
    return numbers;
  }
  ARROW_ASSIGN_OR_RAISE(const auto values, IntegerColumn(table, kFile, column));
  // Rows repeat few classes, so the text of each is made once.
  std::unordered_map<std::int64_t, std::size_t> known;
  for (const std::int64_t value : values) {
    const auto [entry, is_new] = known.try_emplace(value, 0);
    if (is_new) entry->second = NumberOf(std::to_string(value));
    numbers.push_back(entry->second);
  }
  return numbers;
}

arrow::Status ClassCounter::Add(const arrow::Table& predictions) {
  ARROW_ASSIGN_OR_RAISE(const auto labels, NumbersOf(predictions, "label"));
  ARROW_ASSIGN_OR_RAISE(const auto predicted, NumbersOf(predictions, "predicted"));
  ARROW_ASSIGN_OR_RAISE(const auto splits, TextColumn(predictions, kFile, "split"));
  ARROW_ASSIGN_OR_RAISE(const auto present, FlagColumn(predictions, kFile, "present"));
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (splits[row] != "test" || present[row] == 0) continue;
    ++pairs_[{labels[row], predicted[row]}];
  }
  return arrow::Status::OK();
}

ClassCounts ClassCounter::Finish() const {
  std::set<std::size_t> used;
  for (const auto& [pair, count] : pairs_) used.insert({pair.first, pair.second});
  std::vector<std::size_t> order(used.begin(), used.end());
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return ComesBefore(names_[a], names_[b]);
  });
  ClassCounts counts;
  std::vector<std::size_t> place(names_.size(), 0);
  for (const std::size_t i : order) {
    place[i] = counts.names.size();
    counts.names.push_back(names_[i]);
  }
  for (const auto& [pair, count] : pairs_) {
    counts.pairs[{place[pair.first], place[pair.second]}] = count;
  }
  return counts;
}

ConfusionMatrix MakeConfusionMatrix(const ClassCounts& counts, std::size_t max_classes) {
  const ClassTotals totals = Totals(counts);
  std::vector<std::size_t> order(counts.names.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return totals.wanted[a] > totals.wanted[b];
  });
  ConfusionMatrix matrix;
  if (order.size() > max_classes) {
    matrix.num_merged = order.size() - max_classes;
    order.resize(max_classes);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> place(counts.names.size(), order.size());
  for (const std::size_t i : order) {
    place[i] = matrix.names.size();
    matrix.names.push_back(counts.names[i]);
  }
  if (matrix.num_merged > 0) matrix.names.emplace_back("other");
  matrix.counts.assign(matrix.names.size(),
                       std::vector<std::int64_t>(matrix.names.size(), 0));
  for (const auto& [pair, count] : counts.pairs) {
    matrix.counts[place[pair.first]][place[pair.second]] += count;
  }
  return matrix;
}

ResultsTable ClassScoreTable(const ClassCounts& counts) {
  const ClassTotals totals = Totals(counts);
  ResultsTable table;
  table.columns = {{"class", "class", ColumnType::kText},
                   {"precision", "precision %", ColumnType::kPercent},
                   {"recall", "recall %", ColumnType::kPercent},
                   {"f1", "F1 %", ColumnType::kPercent},
                   {"predictions", "predictions", ColumnType::kInteger}};
  for (std::size_t i = 0; i < counts.names.size(); ++i) {
    table.rows.push_back(
        {counts.names[i], Share(totals.right[i], totals.predicted[i]),
         Share(totals.right[i], totals.wanted[i]),
         Share(2 * totals.right[i], totals.predicted[i] + totals.wanted[i]),
         totals.wanted[i]});
  }
  return table;
}

}  // namespace coden
