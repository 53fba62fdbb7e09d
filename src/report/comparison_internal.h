#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coden/report/html_page.h"
#include "coden/report/results_table.h"
#include "coden/store/manifest.h"
#include "report/micro_f1_internal.h"

namespace coden {

/// What a comparison takes from one run.
struct RunSummary {
  std::string name;                       ///< unlike those of the other runs
  std::vector<IniSection> settings;       ///< that made it; empty: not known
  std::optional<MicroF1Summary> quality;  ///< nothing: no model was trained
  std::int64_t num_snapshots = 0;
  std::vector<StageFigure> stages;
};

struct Comparison {
  ResultsTable runs;      ///< a row each: model, scores, snapshots, seconds, memory
  ResultsTable stages;    ///< seconds: a row per stage, a column per run
  ResultsTable settings;  ///< those that differ: key, then the text in every run
  std::vector<std::string> warnings;  ///< why scores cannot be compared
  HtmlPage page;
};

/// Put runs side by side. `run.directory` differs by nature and is not compared.
Comparison Compare(const std::vector<RunSummary>& runs);

}  // namespace coden
