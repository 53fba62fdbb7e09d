#include <algorithm>
#include <filesystem>

#include "cli/command_internal.h"
#include "cli/option_flags_internal.h"
#include "coden/import/edge_list.h"
#include "coden/import/jodie.h"
#include "coden/import/tgl.h"

namespace coden {

namespace {

// A whole number where the log has one, and otherwise the UTC time.
Cell TimeCell(const std::string& text) {
  const auto number = setting_value::ParseNumber<std::int64_t>(text);
  return number ? Cell(*number) : text.empty() ? Cell() : Cell(text);
}

ResultsTable LogTable(const ImportSummary& summary) {
  ResultsTable table;
  table.key = "log";
  table.title = "Log";
  table.columns = {{"rows", "rows", ColumnType::kInteger},
                   {"dropped", "dropped", ColumnType::kInteger},
                   {"comments", "comment lines", ColumnType::kInteger},
                   {"nodes", "nodes", ColumnType::kInteger},
                   {"first_time", "first time"},
                   {"last_time", "last time"}};
  table.rows.push_back({summary.num_rows, summary.num_dropped, summary.num_comments,
                        summary.num_nodes, TimeCell(summary.first_time),
                        TimeCell(summary.last_time)});
  return table;
}

ResultsTable ColumnsTable(const ImportSummary& summary) {
  ResultsTable table;
  table.key = "columns";
  table.title = "Columns";
  table.columns = {{"column", "column"},
                   {"name", "name"},
                   {.key = "becomes", .header = "becomes", .if_empty = "(not imported)"},
                   {"file", "file"}};
  const auto text = [](const std::string& value) {
    return value.empty() ? Cell() : Cell(value);
  };
  for (const ImportedColumn& column : summary.columns) {
    table.rows.push_back(
        {column.number, text(column.name), text(column.becomes), column.file});
  }
  return table;
}

ResultsTable DroppedTable(const ImportSummary& summary) {
  ResultsTable table;
  table.key = "dropped";
  table.title = "Dropped";
  table.columns = {{"rows", "rows", ColumnType::kInteger},
                   {"first_line", "first line", ColumnType::kInteger},
                   {"reason", "reason"},
                   {"file", "file"}};
  for (const DroppedRows& dropped : summary.dropped) {
    table.rows.push_back({dropped.rows,
                          dropped.first_line > 0 ? Cell(dropped.first_line) : Cell(),
                          dropped.reason, dropped.file});
  }
  return table;
}

std::string ShellWord(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char letter) {
    return std::isalnum(letter) ||
           std::string_view("/._-+=:,@").find(letter) != std::string_view::npos;
  });
  if (plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char letter : text) {
    quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return quoted + "'";
}

// The command that makes something of what was written.
std::string NextCommand(const ImportSummary& summary, const std::string& out) {
  std::string inputs;
  bool labels = false;
  for (const FileRecord& file : summary.files) {
    const std::string part = std::filesystem::path(file.path).stem().string();
    inputs += " --input." + part + " " + ShellWord(file.path);
    labels = labels || part == "labels";
  }
  const int width = summary.feature_width > 0 ? summary.feature_width : 64;
  return std::string("coden ") + (labels ? "run" : "embed") + inputs +
         " --input.random_features " + std::to_string(width) +
         (summary.has_op ? " --graph.events signed" : "") + " --run.directory " +
         ShellWord(out + "/run");
}

template <typename Options, typename Import>
arrow::Status Run(const CommandLine& line, Import import, const RunContext& context,
                  std::string* output) {
  if (line.words.size() != 2) {
    return UsageError(
        "`import ", line.words.front(),
        "` takes one file, or - for standard input: ", line.words.size() - 1, " given");
  }
  OutputForm form{.table = line.table};
  ARROW_ASSIGN_OR_RAISE(form.format, FormatFrom(line));
  constexpr std::string_view kTables[] = {"files", "log", "columns", "dropped"};
  ARROW_RETURN_NOT_OK(CheckOutputForm(form, kTables));
  ARROW_ASSIGN_OR_RAISE(auto options,
                        OptionsFrom<Options>(line, "import " + line.words.front()));
  options.file = line.words[1];
  options.force = line.force;
  ARROW_ASSIGN_OR_RAISE(const ImportSummary summary, import(options, context));
  std::vector<ResultsTable> tables = {FilesTable(summary.files), LogTable(summary),
                                      ColumnsTable(summary), DroppedTable(summary)};
  const bool for_people = form.format == TableFormat::kTable && form.table.empty();
  if (for_people && summary.dropped.empty()) tables.pop_back();
  ARROW_ASSIGN_OR_RAISE(*output, RenderAll(tables, form));
  context.progress->Note("next: " + NextCommand(summary, options.out));
  return arrow::Status::OK();
}

}  // namespace

std::vector<FlagSection> ImportFlags() {
  return {
      SectionOf<EdgeListOptions>("coden import edges: any delimited list of edges"),
      SectionOf<JodieOptions>("coden import jodie: interactions between users and items"),
      SectionOf<TglOptions>(
          "coden import tgl: a directory with edges.csv and labels.csv")};
}

arrow::Status ImportCommand(const CommandLine& line, const RunContext& context,
                            std::string* output) {
  const std::string kind = line.words.empty() ? std::string() : line.words.front();
  if (kind == "edges") return Run<EdgeListOptions>(line, ImportEdgeList, context, output);
  if (kind == "jodie") return Run<JodieOptions>(line, ImportJodie, context, output);
  if (kind == "tgl") return Run<TglOptions>(line, ImportTgl, context, output);
  return UsageError("`import` needs the kind of file, edges, jodie or tgl: '", kind, "'");
}

}  // namespace coden
