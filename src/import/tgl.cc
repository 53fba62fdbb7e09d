// The CSV files of TGL's data sets.
//
// Zhou, Zheng, Nisa, Ioannidis, Song, Karypis: TGL: A General Framework for Temporal GNN
// Training on Billion-Scale Graphs, VLDB 2022.

#include "coden/import/tgl.h"

#include <filesystem>
#include <vector>

#include "import/flag_internal.h"
#include "import/import_log_internal.h"

namespace coden {

namespace {

using importing::ColumnChoice;
using importing::FindColumn;
using importing::TextFormat;

arrow::Result<ColumnChoice> ChooseEdges(const TextFormat& format,
                                        const std::string& name) {
  ColumnChoice columns;
  ARROW_ASSIGN_OR_RAISE(columns.src, FindColumn(format, "src", name));
  ARROW_ASSIGN_OR_RAISE(columns.dst, FindColumn(format, "dst", name));
  ARROW_ASSIGN_OR_RAISE(columns.time, FindColumn(format, "time", name));
  return columns;
}

arrow::Result<ColumnChoice> ChooseLabels(const TextFormat& format,
                                         const std::string& name) {
  ColumnChoice columns;
  ARROW_ASSIGN_OR_RAISE(columns.src, FindColumn(format, "node", name));
  ARROW_ASSIGN_OR_RAISE(columns.time, FindColumn(format, "time", name));
  ARROW_ASSIGN_OR_RAISE(columns.label, FindColumn(format, "label", name));
  return columns;
}

}  // namespace

std::span<const ImportFlag<TglOptions>> TglOptions::Flags() {
  static const auto flags = importing::WithSharedFlags<TglOptions>({});
  return flags;
}

arrow::Result<ImportSummary> ImportTgl(const TglOptions& options,
                                       const RunContext& context) {
  ARROW_RETURN_NOT_OK(generate::CheckEach(options));
  ARROW_RETURN_NOT_OK(importing::CheckTarget(options));
  importing::LogImport edges;
  importing::LogImport labels;
  edges.file = options.file;
  std::error_code ignored;
  if (std::filesystem::is_directory(options.file, ignored)) {
    const std::filesystem::path folder = options.file;
    edges.file = (folder / "edges.csv").string();
    if (std::filesystem::exists(folder / "labels.csv", ignored)) {
      labels.file = (folder / "labels.csv").string();
    }
  }
  edges.step = "edges";
  edges.choose = ChooseEdges;
  edges.metadata = importing::Provenance("tgl", options);
  ImportSummary summary;
  std::vector<importing::ImportedLog> logs;
  ARROW_ASSIGN_OR_RAISE(logs.emplace_back(),
                        importing::ImportLog(edges, options, context, &summary));
  if (!labels.file.empty()) {
    labels.step = "labels";
    labels.choose = ChooseLabels;
    labels.kinds = logs.front().kinds;
    labels.metadata = edges.metadata;
    ARROW_ASSIGN_OR_RAISE(logs.emplace_back(),
                          importing::ImportLog(labels, options, context, &summary));
  }
  ARROW_RETURN_NOT_OK(importing::Publish(logs, options, context, &summary));
  return summary;
}

}  // namespace coden
