#include "report/class_scores_internal.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

#include <arrow/array.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "coden/pipeline/error.h"
#include "report/table_column_internal.h"

namespace coden {

namespace {

constexpr const char* kFile = "predictions.parquet";

// Classes by the order in which they were seen.
class ClassNumbers {
 public:
  std::size_t Of(std::string_view name) {
    const auto found = numbers_.find(std::string(name));
    if (found != numbers_.end()) return found->second;
    numbers_.emplace(name, names_.size());
    names_.emplace_back(name);
    return names_.size() - 1;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::string> names_;
};

// One number a row for a column of integers or strings. Rows repeat few classes, so the
// text of an integer is made once.
arrow::Result<std::vector<std::size_t>> ClassColumn(const arrow::Table& table,
                                                    const std::string& column,
                                                    ClassNumbers& classes) {
  const auto found = table.GetColumnByName(column);
  std::vector<std::size_t> numbers;
  if (found == nullptr || found->type()->id() != arrow::Type::STRING) {
    ARROW_ASSIGN_OR_RAISE(const auto values, IntegerColumn(table, kFile, column));
    std::unordered_map<std::int64_t, std::size_t> known;
    for (const std::int64_t value : values) {
      const auto [entry, is_new] = known.try_emplace(value, 0);
      if (is_new) entry->second = classes.Of(std::to_string(value));
      numbers.push_back(entry->second);
    }
    return numbers;
  }
  ARROW_ASSIGN_OR_RAISE(const auto values, TextColumn(table, kFile, column));
  for (const std::string_view value : values) numbers.push_back(classes.Of(value));
  return numbers;
}

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
  std::vector<std::int64_t> right, support, predicted;
};

ClassTotals Totals(const ClassCounts& counts) {
  const std::vector<std::int64_t> zeros(counts.names.size(), 0);
  ClassTotals totals{zeros, zeros, zeros};
  for (const auto& [pair, count] : counts.pairs) {
    totals.support[pair.first] += count;
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

arrow::Result<ClassCounts> CountClasses(const arrow::Table& predictions) {
  ClassNumbers classes;
  ARROW_ASSIGN_OR_RAISE(const auto labels, ClassColumn(predictions, "label", classes));
  ARROW_ASSIGN_OR_RAISE(const auto predicted,
                        ClassColumn(predictions, "predicted", classes));
  ARROW_ASSIGN_OR_RAISE(const auto splits, TextColumn(predictions, kFile, "split"));
  ARROW_ASSIGN_OR_RAISE(const auto present, FlagColumn(predictions, kFile, "present"));

  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> seen;
  std::vector<bool> used(classes.names().size(), false);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (splits[row] != "test" || present[row] == 0) continue;
    ++seen[{labels[row], predicted[row]}];
    used[labels[row]] = used[predicted[row]] = true;
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return ComesBefore(classes.names()[a], classes.names()[b]);
  });
  ClassCounts counts;
  std::vector<std::size_t> place(used.size(), 0);
  for (const std::size_t i : order) {
    place[i] = counts.names.size();
    counts.names.push_back(classes.names()[i]);
  }
  for (const auto& [pair, count] : seen) {
    counts.pairs[{place[pair.first], place[pair.second]}] = count;
  }
  return counts;
}

ConfusionMatrix MakeConfusionMatrix(const ClassCounts& counts, std::size_t max_classes) {
  const ClassTotals totals = Totals(counts);
  std::vector<std::size_t> order(counts.names.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return totals.support[a] > totals.support[b];
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
                   {"support", "support", ColumnType::kInteger}};
  for (std::size_t i = 0; i < counts.names.size(); ++i) {
    table.rows.push_back(
        {counts.names[i], Share(totals.right[i], totals.predicted[i]),
         Share(totals.right[i], totals.support[i]),
         Share(2 * totals.right[i], totals.predicted[i] + totals.support[i]),
         totals.support[i]});
  }
  return table;
}

}  // namespace coden
