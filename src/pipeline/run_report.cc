#include "coden/pipeline/run_report.h"

#include <tbb/version.h>

#include <fstream>
#include <sstream>

#include <arrow/config.h>
#include <arrow/table.h>

#include "coden/store/run_layout.h"
#include "coden/report/html_report.h"
#include "coden/store/parquet_file.h"
#include "coden/version.h"

namespace coden {

arrow::Status WriteRunReport(const Settings& settings, const Manifest& manifest,
                             const RunContext& context) {
  if (!settings.report.html) return arrow::Status::OK();
  const RunLayout layout{settings.run.directory};
  ReportInputs inputs;
  inputs.title = "coden: " + settings.run.directory;
  // The settings that made the files, which need not be those of this call.
  std::ifstream saved(layout.Path(RunLayout::kSettings));
  std::stringstream settings_text;
  settings_text << saved.rdbuf();
  inputs.settings_ini = settings_text.str();
  for (const PartRecord& part : manifest.parts) {
    inputs.stages.insert(inputs.stages.end(), part.figures.begin(), part.figures.end());
    inputs.notes.insert(inputs.notes.end(), part.notes.begin(), part.notes.end());
  }
  for (const auto& [name, path] :
       {std::pair{"edges", settings.input.edges},
        std::pair{"features", settings.input.features},
        std::pair{"feature updates", settings.input.feature_updates},
        std::pair{"labels", settings.input.labels}}) {
    if (!path.empty()) inputs.inputs.push_back({name, path});
  }
  inputs.versions = {{"coden", std::string(kVersion)},
                     {"Apache Arrow", arrow::GetBuildInfo().version_string},
                     {"oneTBB", TBB_runtime_version()}};
  ARROW_ASSIGN_OR_RAISE(inputs.schedule,
                        ReadParquetFile(layout.Path(RunLayout::kSchedule)));
  if (manifest.Find("train") != nullptr) {
    ARROW_ASSIGN_OR_RAISE(inputs.metrics,
                          ReadParquetFile(layout.Path(RunLayout::kMetrics)));
    std::ifstream log(layout.Path(RunLayout::kMetricsLog));
    for (std::string line; std::getline(log, line);) inputs.epoch_lines.push_back(line);
  }
  const std::string stage = std::string(RunLayout::kStage) + "/report.html";
  ARROW_RETURN_NOT_OK(
      WriteHtmlReport(inputs, layout.Path(RunLayout::kReport), layout.Path(stage))
          .status());
  context.progress->Note("report: " + layout.Path(RunLayout::kReport));
  return arrow::Status::OK();
}

}  // namespace coden
