#include "cli/command_internal.h"

#include <algorithm>

#include "coden/base/error.h"

namespace coden {

std::vector<Command> AllCommands() {
  // What decides the snapshots of a run.
  const std::vector<std::string_view> embed = {"run",    "input", "graph",   "partition",
                                               "sample", "embed", "snapshot"};
  const auto and_also = [](std::vector<std::string_view> sections,
                           std::initializer_list<std::string_view> more) {
    sections.insert(sections.end(), more);
    return sections;
  };
  const auto embed_and_report = and_also(embed, {"report"});
  const auto all_stages = and_also(embed, {"train", "report"});
  return {
      {"init",
       "--edges LOG [--out PIPELINE.ini]",
       "write a pipeline file for given inputs",
       InitFlags(),
       InitCommand,
       {"force"},
       all_stages},
      {"run",
       "[PIPELINE.ini]",
       "run all stages, from the edge log to the report",
       {},
       RunCommand,
       {"force", "resume", "format", "table"},
       all_stages},
      {"plan",
       "[PIPELINE.ini]",
       "show prediction times, snapshots, memory and disk without running",
       PlanFlags(),
       PlanCommand,
       {"format", "table"},
       and_also(embed, {"train"})},
      {"validate",
       "[PIPELINE.ini]",
       "check the inputs and list all problems",
       {},
       ValidateCommand,
       {"format"},
       {"run", "input", "graph", "partition", "train.split_by", "train.label_columns",
        "train.label_windows"}},
      {"embed",
       "[PIPELINE.ini]",
       "compute the snapshots, or one slice of a schedule",
       {},
       EmbedCommand,
       {"force", "format", "table"},
       embed_and_report},
      {"schedule",
       "[PIPELINE.ini]",
       "compute the schedule, for slices embedded by other processes",
       {},
       ScheduleCommand,
       {"force"},
       embed},
      {"commit",
       "[PIPELINE.ini]",
       "join finished slices into snapshots",
       {},
       CommitCommand,
       {"format", "table"},
       embed_and_report},
      {"train",
       "[PIPELINE.ini]",
       "train a model on the snapshots of an earlier run",
       {},
       TrainCommand,
       {"force", "resume", "format", "table"},
       all_stages},
      {"predict",
       "[PIPELINE.ini]",
       "process new rows and predict with a trained model",
       {},
       PredictCommand,
       {"force", "format", "table"},
       embed_and_report},
      {"report",
       "[PIPELINE.ini]",
       "show the results of a run, or compare several with --compare",
       ReportFlags(),
       ReportCommand,
       {"format", "table"},
       {"run", "report"}},
      {"experiment",
       "SUITE [PIPELINE.ini]",
       "run one of the paper's experiments on a pipeline",
       ExperimentFlags(),
       ExperimentCommand,
       {"format", "table"},
       and_also(all_stages, {"experiment"})},
      {"generate",
       "sbm|rmat --out FOLDER",
       "generate a synthetic edge log, features and labels",
       GenerateFlags(),
       GenerateCommand,
       {"force", "format"}},
      {"verify",
       "RUN",
       "check every committed file against its checksum",
       {},
       VerifyCommand,
       {"format"}},
      {"import",
       "edges|jodie|tgl FILE --out FOLDER",
       "convert delimited text to Parquet",
       ImportFlags(),
       ImportCommand,
       {"force", "format", "table"}},
      {"inspect",
       "PATH",
       "show what a log, snapshot, model or run contains",
       {},
       InspectCommand,
       {"format", "table"}},
      {"settings", "", "list all settings with their values and defaults",
       SettingsFlags(), SettingsCommand},
  };
}

arrow::Result<Settings> SettingsFrom(const CommandLine& line) {
  if (line.words.size() > 1) {
    return UsageError("give one pipeline file, not several: '", line.words[1], "'");
  }
  Settings settings;
  if (!line.words.empty()) {
    ARROW_RETURN_NOT_OK(
        ReadPipelineFile(line.words.front(), &settings, line.places.get()));
  }
  // A flag wins over the file.
  if (line.format) line.places->erase("report.format");
  for (const auto& [name, value] : line.flags) line.places->erase(name);
  for (const auto& [name, value] : line.flags) {
    ARROW_RETURN_NOT_OK(Set(settings, name, value));
  }
  if (line.format) ARROW_RETURN_NOT_OK(Set(settings, "report.format", *line.format));
  ARROW_RETURN_NOT_OK(Validate(settings));
  return settings;
}

arrow::Result<TableFormat> FormatFrom(const CommandLine& line) {
  Settings settings;
  if (line.format) ARROW_RETURN_NOT_OK(Set(settings, "report.format", *line.format));
  return settings.report.format;
}

arrow::Status CheckOutputForm(const OutputForm& form,
                              std::span<const std::string_view> keys) {
  std::string list;
  for (const std::string_view key : keys)
    list += (list.empty() ? "" : ", ") + std::string(key);
  if (form.table.empty()) {
    if (form.format != TableFormat::kCsv || keys.size() < 2) return arrow::Status::OK();
    return UsageError(
        "CSV holds one table, and this command has several; choose one with --table: ",
        list);
  }
  if (std::find(keys.begin(), keys.end(), form.table) != keys.end())
    return arrow::Status::OK();
  return UsageError("there is no such table; `--table` must be one of ", list, ": '",
                    form.table, "'");
}

arrow::Result<std::string> RenderAll(std::span<const ResultsTable> tables,
                                     const OutputForm& form) {
  std::vector<std::string_view> keys;
  for (const ResultsTable& table : tables) keys.push_back(table.key);
  ARROW_RETURN_NOT_OK(CheckOutputForm(form, keys));
  const bool json = form.format == TableFormat::kJson;
  std::string text;
  for (const ResultsTable& table : tables) {
    if (!form.table.empty()) {
      if (table.key == form.table) return Render(table, form.format);
      continue;
    }
    if (json) text += (text.empty() ? "{" : ",") + ("\n\"" + table.key + "\": ");
    if (!json && !text.empty()) text += "\n";
    text += Render(table, form.format);
  }
  return json ? text + "}\n" : text;
}

}  // namespace coden
