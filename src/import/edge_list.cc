#include "coden/import/edge_list.h"

#include <algorithm>
#include <array>
#include <utility>

#include "coden/base/error.h"
#include "import/flag_internal.h"
#include "import/import_log_internal.h"

namespace coden {

namespace {

using importing::ColumnChoice;
using importing::TextFormat;

// A delimiter by its name, or any one character.
struct Delimiter {
  static constexpr std::array<std::pair<std::string_view, char>, 5> kNames = {
      {{"auto", '\0'},
       {"comma", ','},
       {"tab", '\t'},
       {"semicolon", ';'},
       {"space", importing::kBlanks}}};

  std::string rule() const {
    return "auto, comma, tab, semicolon, space (any run of blanks) or one character";
  }
  std::optional<char> Parse(std::string_view text) const {
    for (const auto& [name, value] : kNames) {
      if (text == name) return value;
    }
    const bool usable = text.size() == 1 && text != "\n" && text != "\r" && text != "\"";
    return usable ? std::optional(text.front()) : std::nullopt;
  }
  std::string Format(char value) const {
    for (const auto& [name, candidate] : kNames) {
      if (value == candidate) return std::string(name);
    }
    return std::string(1, value);
  }
};

struct CommentMarks {
  std::string rule() const { return "characters, or none"; }
  std::optional<std::string> Parse(std::string_view text) const {
    if (text.empty()) return std::nullopt;
    return text == "none" ? std::string() : std::string(text);
  }
  std::string Format(const std::string& value) const {
    return value.empty() ? "none" : value;
  }
};

struct Column {
  std::string alternatives;

  std::string rule() const {
    return "the name of a column or its number from 1, or " + alternatives;
  }
  std::optional<std::string> Parse(std::string_view text) const {
    return text.empty() ? std::nullopt : std::optional(std::string(text));
  }
  std::string Format(const std::string& value) const { return value; }
};

arrow::Result<ColumnChoice> Choose(const TextFormat& format, const std::string& name,
                                   const EdgeListOptions& options) {
  const auto num_names = static_cast<int>(format.names.size());
  if (format.header && num_names != format.num_fields) {
    const bool jodie =
        std::find(format.names.begin(), format.names.end(),
                  "comma_separated_list_of_features") != format.names.end();
    return InputError(name, ": the header must name as many columns as the rows have",
                      jodie ? "; `coden import jodie` reads this file"
                            : "; check `--delimiter` and `--header`",
                      ": ", num_names, " names, ", format.num_fields, " fields");
  }
  if (format.num_fields < 2) {
    return InputError(name, ": a row must have two fields or more; give `--delimiter`");
  }
  return importing::ChooseColumns(format, options, name);
}

}  // namespace

std::span<const ImportFlag<EdgeListOptions>> EdgeListOptions::Flags() {
  using importing::Declare;
  using Self = EdgeListOptions;
  static const auto flags = importing::WithSharedFlags<Self>({
      Declare<Self>("delimiter", &Self::delimiter, Delimiter{}, "Field delimiter."),
      Declare<Self>("header", &Self::header,
                    setting_value::Choice<HeaderRow>{{{"auto", HeaderRow::kAuto},
                                                      {"yes", HeaderRow::kYes},
                                                      {"no", HeaderRow::kNo}}},
                    "Whether the first row contains the column names."),
      Declare<Self>("comments", &Self::comments, CommentMarks{},
                    "Characters that start a comment line."),
      Declare<Self>("src", &Self::src, Column{"auto"}, "Column with the source node."),
      Declare<Self>("dst", &Self::dst, Column{"auto"},
                    "Column with the destination node."),
      Declare<Self>("time", &Self::time, Column{"auto, or row to number the rows"},
                    "Column with the time: numbers, or ISO dates and times (UTC)."),
      Declare<Self>(
          "op", &Self::op, Column{"auto or none"},
          "Column with the operation: insert an edge (1, insert, true) or delete "
          "it (-1, delete, false)."),
      Declare<Self>("label", &Self::label, Column{"none"},
                    "Column with the class of the source node from this time on; written "
                    "to labels.parquet."),
  });
  return flags;
}

arrow::Result<ImportSummary> ImportEdgeList(const EdgeListOptions& options,
                                            const RunContext& context) {
  ARROW_RETURN_NOT_OK(generate::CheckEach(options));
  ARROW_RETURN_NOT_OK(importing::CheckTarget(options));
  importing::LogImport import;
  import.file = options.file;
  import.step = "edges";
  import.delimiter = options.delimiter;
  import.header = options.header;
  import.comments = options.comments;
  import.choose = [&](const TextFormat& format, const std::string& name) {
    return Choose(format, name, options);
  };
  import.metadata = importing::Provenance("edges", options);
  ImportSummary summary;
  ARROW_ASSIGN_OR_RAISE(const auto log,
                        importing::ImportLog(import, options, context, &summary));
  ARROW_RETURN_NOT_OK(importing::Publish({&log, 1}, options, context, &summary));
  return summary;
}

}  // namespace coden
