#include <algorithm>

#include "cli/command_internal.h"
#include "coden/generate/rmat.h"
#include "coden/generate/sbm.h"
#include "coden/pipeline/error.h"

namespace coden {

namespace {

template <typename Options>
void AddFlags(std::string_view generator, std::vector<FlagHelp>* flags) {
  for (const auto& flag : Options::Flags()) {
    const auto same =
        std::find_if(flags->begin(), flags->end(),
                     [&](const FlagHelp& other) { return other.name == flag.key; });
    const std::string prefix = std::string(generator) + ": ";
    if (same == flags->end()) {
      flags->push_back({flag.key, flag.rule, prefix + flag.help, flag.default_text});
    } else {
      same->help += " " + prefix + flag.help;
      if (same->default_text != flag.default_text) {
        same->default_text += ", " + std::string(generator) + " " + flag.default_text;
      }
    }
  }
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

std::vector<FlagHelp> GenerateFlags() {
  std::vector<FlagHelp> flags;
  AddFlags<SbmOptions>("sbm", &flags);
  AddFlags<RmatOptions>("rmat", &flags);
  return flags;
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
