#include <algorithm>

#include "cli/command_internal.h"
#include "coden/generate/rmat.h"
#include "coden/generate/sbm.h"
#include "coden/pipeline/error.h"

namespace coden {

namespace {

template <typename Options>
FlagSection SectionOf(std::string title) {
  FlagSection section{std::move(title), {}};
  for (const auto& flag : Options::Flags()) {
    section.flags.push_back({flag.key, flag.rule, flag.help, flag.default_text});
  }
  return section;
}

template <typename Options>
arrow::Result<Options> OptionsFrom(const CommandLine& line, std::string_view generator) {
  Options options;
  for (const auto& [name, value] : line.flags) {
    if (name == "format") continue;
    const auto flags = Options::Flags();
    const auto flag = std::find_if(flags.begin(), flags.end(),
                                   [&](const auto& other) { return other.key == name; });
    if (flag == flags.end()) {
      return UsageError("`generate ", generator, "` does not take `--", name, "`");
    }
    ARROW_RETURN_NOT_OK(flag->set(options, value));
  }
  return options;
}

ResultsTable FilesTable(const GenerateSummary& summary) {
  ResultsTable table;
  table.title = "Files";
  table.columns = {{"rows", "rows", ColumnType::kInteger},
                   {"bytes", "bytes", ColumnType::kInteger},
                   {"path", "path"}};
  for (const FileRecord& file : summary.files) {
    table.rows.push_back({file.rows, file.size, file.path});
  }
  return table;
}

}  // namespace

std::vector<FlagSection> GenerateFlags() {
  return {
      SectionOf<SbmOptions>(
          "coden generate sbm: communities that change with time (docs/quickstart.md)"),
      SectionOf<RmatOptions>("coden generate rmat: a skewed random graph of any size")};
}

arrow::Status GenerateCommand(const CommandLine& line, const RunContext& context,
                              std::string* output) {
  const std::string generator = line.words.empty() ? std::string() : line.words.front();
  if (line.words.size() > 1) {
    return UsageError("`generate` takes one kind of graph, sbm or rmat: '", line.words[1],
                      "'");
  }
  ARROW_ASSIGN_OR_RAISE(const TableFormat format, FormatFrom(line));
  GenerateSummary summary;
  if (generator == "sbm") {
    ARROW_ASSIGN_OR_RAISE(const auto options, OptionsFrom<SbmOptions>(line, generator));
    ARROW_ASSIGN_OR_RAISE(summary, GenerateSbm(options, context));
  } else if (generator == "rmat") {
    ARROW_ASSIGN_OR_RAISE(const auto options, OptionsFrom<RmatOptions>(line, generator));
    ARROW_ASSIGN_OR_RAISE(summary, GenerateRmat(options, context));
  } else {
    return UsageError("`generate` needs the kind of graph, sbm or rmat: '", generator,
                      "'");
  }
  *output = Render(FilesTable(summary), format);
  return arrow::Status::OK();
}

}  // namespace coden
