#include "cli/command_internal.h"

namespace coden {

std::vector<FlagSection> SettingsFlags() {
  return {{"Output:",
           {{"format", "table, json, csv, markdown or ini",
             "Format of the list on standard output.", "table"}}}};
}

arrow::Status SettingsCommand(const CommandLine& line, const RunContext&,
                              std::string* output) {
  if (line.format == "markdown" || line.format == "ini") {
    *output = line.format == "ini" ? CommentedIni() : SettingsReference();
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const TableFormat format, FormatFrom(line));
  ResultsTable table;
  table.title = "Settings";
  table.columns = {
      {"key", "setting"}, {"default", "default"}, {"rule", "value"}, {"help", "meaning"}};
  for (const Setting& setting : AllSettings()) {
    table.rows.push_back({setting.key, setting.default_text, setting.rule, setting.help});
  }
  if (format == TableFormat::kTable) {
    *output = "Every setting is a key of the pipeline file and a flag.\n\n" +
              DescribeFlags(SettingFlags());
  } else {
    *output = Render(table, format);
  }
  return arrow::Status::OK();
}

}  // namespace coden
