#include <filesystem>
#include <string_view>

#include "cli/command_internal.h"
#include "cli/option_flags_internal.h"
#include "coden/base/error.h"
#include "coden/generate/rmat.h"
#include "coden/generate/sbm.h"

namespace coden {

namespace {

// Refuse to replace files in the folder `out`, unless `force` is set.
arrow::Status CheckTarget(const std::string& out, bool force,
                          std::initializer_list<std::string_view> names) {
  if (force) return arrow::Status::OK();
  for (const std::string_view name : names) {
    const auto path = std::filesystem::path(out) / name;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) continue;
    return UsageError("'", path.string(),
                      "' already exists; choose another `--out`, or replace it with "
                      "`--force`");
  }
  return arrow::Status::OK();
}

}  // namespace

std::vector<FlagSection> GenerateFlags() {
  return {
      SectionOf<SbmOptions>(
          "coden generate sbm: communities that change over time (docs/quickstart.md)"),
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
    ARROW_ASSIGN_OR_RAISE(const auto options,
                          OptionsFrom<SbmOptions>(line, "generate sbm"));
    ARROW_RETURN_NOT_OK(
        CheckTarget(options.out, line.force,
                    {"edges.parquet", "features.parquet", "labels.parquet"}));
    ARROW_ASSIGN_OR_RAISE(summary, GenerateSbm(options, context));
  } else if (generator == "rmat") {
    ARROW_ASSIGN_OR_RAISE(const auto options,
                          OptionsFrom<RmatOptions>(line, "generate rmat"));
    ARROW_RETURN_NOT_OK(CheckTarget(options.out, line.force, {"edges.parquet"}));
    if (options.features > 0) {
      ARROW_RETURN_NOT_OK(CheckTarget(options.out, line.force, {"features.parquet"}));
    }
    ARROW_ASSIGN_OR_RAISE(summary, GenerateRmat(options, context));
  } else {
    return UsageError("`generate` needs the kind of graph, sbm or rmat: '", generator,
                      "'");
  }
  *output = Render(FilesTable(summary.files), format);
  return arrow::Status::OK();
}

}  // namespace coden
