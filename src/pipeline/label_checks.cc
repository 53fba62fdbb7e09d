#include "pipeline/label_checks_internal.h"

#include <utility>

#include <arrow/array.h>
#include <arrow/type.h>

#include "coden/read/labels.h"
#include "coden/read/parquet_source.h"
#include "read/label_amounts_internal.h"
#include "read/time_warnings_internal.h"

namespace coden {

arrow::Result<CheckedLabels> CheckLabels(const Settings& settings) {
  const InputOptions& input = settings.input;
  ARROW_ASSIGN_OR_RAISE(Labels labels, ReadLabels(input));
  CheckedLabels checked;
  if (const auto warning =
          AmountsWarning(*labels.classes->type(), labels.classes->length(),
                         static_cast<std::int64_t>(labels.entries.size()))) {
    checked.warnings.push_back(*warning);
  }
  if (!input.edges.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto log, ParquetSource::Open(input.edges));
    if (const auto time = log->schema()->GetFieldByName(input.time)) {
      ARROW_ASSIGN_OR_RAISE(
          const auto warnings,
          LabelWindowWarnings(settings, *log, {input.time, nullptr, time->type()}));
      checked.warnings.insert(checked.warnings.end(), warnings.begin(), warnings.end());
    }
  }
  if (settings.train.split_by == SplitKind::kFile) {
    ARROW_ASSIGN_OR_RAISE(const Labels split, ReadSplitRows(input));
    ARROW_RETURN_NOT_OK(CheckSplitValues(split, input.split));
  }
  if (!labels.timed && !labels.other_columns.empty()) {
    std::string others;
    for (const std::string& name : labels.other_columns) others += " " + name;
    checked.notes.push_back(
        "the labels have no time column `" + input.time +
        "`, so they hold at all times; set `input.label_time` if one of these is it:" +
        others);
  }
  std::shared_ptr<NodeIdMap> nodes = std::move(labels.nodes);
  nodes->Freeze();
  checked.nodes = std::move(nodes);
  return checked;
}

}  // namespace coden
