#include "import/column_choice_internal.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "coden/base/error.h"
#include "settings/setting_value_internal.h"

namespace coden::importing {

namespace {

std::string ListColumns(const TextFormat& format) {
  std::string text;
  for (const std::string& name : format.names) {
    text += (text.empty() ? "" : ", ") + (name.empty() ? "(no name)" : name);
  }
  if (text.empty())
    return "1 to " + std::to_string(format.num_fields) + ", without names";
  return text;
}

arrow::Result<int> ByNameOrNumber(const TextFormat& format, std::string_view flag,
                                  const std::string& column, const std::string& name) {
  const auto count = std::count(format.names.begin(), format.names.end(), column);
  if (count > 1) {
    return InputError(name, ": there are several columns of this name; give `--", flag,
                      "` a number from 1: '", column, "'");
  }
  const auto found = std::find(format.names.begin(), format.names.end(), column);
  if (found != format.names.end()) return static_cast<int>(found - format.names.begin());
  const auto number = setting_value::ParseNumber<int>(column);
  if (number && *number >= 1 && *number <= format.num_fields) return *number - 1;
  return InputError(name, ": there is no column '", column, "' for `--", flag,
                    "`; the columns are: ", ListColumns(format));
}

class Chooser {
 public:
  Chooser(const TextFormat& format, const std::string& name)
      : format_(format), name_(name) {}

  // The column that was asked for, or the guess by names.
  arrow::Result<int> Choose(std::string_view flag, const std::string& wish,
                            std::optional<ColumnRole> role) {
    if (wish == "none") return kNoColumn;
    int column = role ? GuessColumn(format_.names, *role) : kNoColumn;
    if (wish != "auto") {
      ARROW_ASSIGN_OR_RAISE(column, ByNameOrNumber(format_, flag, wish, name_));
    }
    if (column != kNoColumn && !taken_.insert(column).second) {
      return InputError(name_, ": `--", flag,
                        "` is a column that is in use already: ", column + 1);
    }
    return column;
  }

  // The column that nothing else uses, if there is just one.
  int OnlyFree() {
    int free = kNoColumn;
    for (int column = 0; column < format_.num_fields; ++column) {
      if (taken_.contains(column)) continue;
      if (free != kNoColumn) return kNoColumn;
      free = column;
    }
    return free;
  }

  // Without names the order of the columns speaks.
  int FirstFree() {
    for (int column = 0; column < format_.num_fields; ++column) {
      if (taken_.insert(column).second) return column;
    }
    return kNoColumn;
  }

  arrow::Status Unknown(std::string_view what, std::string_view flag,
                        std::string_view other = {}) const {
    return InputError(name_, ": cannot tell which column is the ", what, "; give `--",
                      flag, "` a name or a number from 1", other,
                      "; the columns are: ", ListColumns(format_));
  }

 private:
  const TextFormat& format_;
  const std::string& name_;
  std::set<int> taken_;
};

}  // namespace

bool NamesBothEnds(std::span<const std::string> names) {
  return GuessColumn(names, ColumnRole::kSource) != kNoColumn &&
         GuessColumn(names, ColumnRole::kTarget) != kNoColumn;
}

arrow::Result<ColumnChoice> ChooseColumns(const TextFormat& format,
                                          const EdgeListOptions& options,
                                          const std::string& name) {
  Chooser chooser(format, name);
  ColumnChoice choice;
  ARROW_ASSIGN_OR_RAISE(choice.label,
                        chooser.Choose("label", options.label, std::nullopt));
  ARROW_ASSIGN_OR_RAISE(choice.op, chooser.Choose("op", options.op, ColumnRole::kOp));
  const bool by_row =
      options.time == "row" &&
      std::find(format.names.begin(), format.names.end(), "row") == format.names.end();
  if (by_row) {
    choice.time = kRowNumber;
  } else {
    ARROW_ASSIGN_OR_RAISE(choice.time,
                          chooser.Choose("time", options.time, ColumnRole::kTime));
  }
  ARROW_ASSIGN_OR_RAISE(choice.src,
                        chooser.Choose("src", options.src, ColumnRole::kSource));
  ARROW_ASSIGN_OR_RAISE(choice.dst,
                        chooser.Choose("dst", options.dst, ColumnRole::kTarget));
  if (choice.src == kNoColumn && !format.header) choice.src = chooser.FirstFree();
  if (choice.dst == kNoColumn && !format.header) choice.dst = chooser.FirstFree();
  if (choice.src == kNoColumn) return chooser.Unknown("source", "src");
  if (choice.dst == kNoColumn) return chooser.Unknown("target", "dst");
  if (choice.time == kNoColumn && !format.header) choice.time = chooser.OnlyFree();
  if (choice.time == kNoColumn) {
    return chooser.Unknown("time", "time", ", or `row` to number the rows");
  }
  return choice;
}

arrow::Result<int> FindColumn(const TextFormat& format, const std::string& column,
                              const std::string& name) {
  const auto found = std::find(format.names.begin(), format.names.end(), column);
  if (found != format.names.end()) return static_cast<int>(found - format.names.begin());
  return InputError(name, ": there is no column '", column,
                    "'; the columns are: ", ListColumns(format));
}

std::vector<ImportedColumn> DescribeColumns(const TextFormat& format,
                                            const ColumnChoice& choice,
                                            const std::string& file) {
  std::vector<ImportedColumn> described;
  int first = 0;
  for (int column = 0; column < format.num_fields; ++column) {
    const bool named = static_cast<std::size_t>(column) < format.names.size();
    const bool feature = std::find(choice.features.begin(), choice.features.end(),
                                   column) != choice.features.end();
    const std::string becomes = column == choice.src
                                    ? (choice.dst == kNoColumn ? "node" : "src")
                                : column == choice.dst   ? "dst"
                                : column == choice.time  ? "time"
                                : column == choice.op    ? "op"
                                : column == choice.label ? "label"
                                : feature                ? "x"
                                                         : "";
    const bool alike =
        !described.empty() && !named && becomes == described.back().becomes;
    if (alike) {
      described.back().number =
          std::to_string(first + 1) + "-" + std::to_string(column + 1);
      continue;
    }
    first = column;
    described.push_back({file, std::to_string(column + 1),
                         named ? format.names[column] : std::string(), becomes});
  }
  return described;
}

}  // namespace coden::importing
