// Options structs that declare their flags (coden/pipeline/option.h), and the commands
// that take them: generate and import.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include <arrow/result.h>

#include "cli/command_internal.h"
#include "coden/base/error.h"
#include "coden/report/results_table.h"
#include "coden/store/parquet_file.h"
#include "settings/setting_value_internal.h"

namespace coden {

/// The flags of `Options` as help shows them. A switch, true or false and false unless
/// given, takes no value.
template <typename Options>
FlagSection SectionOf(std::string title) {
  FlagSection section{std::move(title), {}};
  for (const auto& flag : Options::Flags()) {
    if (flag.rule == setting_value::Boolean{}.rule()) {
      section.flags.push_back({flag.key, "", flag.help, "", /*takes_value=*/false});
    } else {
      section.flags.push_back({flag.key, flag.rule, flag.help, flag.default_text});
    }
  }
  return section;
}

/// The options that the flags of a command, such as `generate rmat`, add up to.
template <typename Options>
arrow::Result<Options> OptionsFrom(const CommandLine& line, std::string_view command) {
  Options options;
  for (const auto& [name, value] : line.flags) {
    const auto flags = Options::Flags();
    const auto flag = std::find_if(flags.begin(), flags.end(),
                                   [&](const auto& other) { return other.key == name; });
    if (flag == flags.end()) {
      return UsageError("`", command, "` does not take `--", name, "`");
    }
    ARROW_RETURN_NOT_OK(flag->set(options, value));
  }
  return options;
}

/// What a command wrote.
inline ResultsTable FilesTable(std::span<const FileRecord> files) {
  ResultsTable table;
  table.key = "files";
  table.title = "Files";
  table.columns = {{"rows", "rows", ColumnType::kInteger},
                   {"bytes", "bytes", ColumnType::kInteger},
                   {"path", "path"}};
  for (const FileRecord& file : files) {
    table.rows.push_back({file.rows, file.size, file.path});
  }
  return table;
}

}  // namespace coden
