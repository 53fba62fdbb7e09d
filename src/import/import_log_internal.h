#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/import/edge_list.h"
#include "coden/import/import.h"
#include "import/column_choice_internal.h"
#include "import/log_files_internal.h"
#include "import/row_converter_internal.h"
#include "import/text_format_internal.h"

namespace coden::importing {

/// One text that becomes one log.
struct LogImport {
  std::string file;
  std::string step;  ///< how progress calls it
  char delimiter = ',';
  HeaderRow header = HeaderRow::kYes;
  std::string comments;
  std::function<arrow::Result<ColumnChoice>(const TextFormat&, const std::string& name)>
      choose;
  ValueKinds kinds;        ///< what an earlier text decided
  bool bipartite = false;  ///< see RowConverterOptions
  bool zero_labels_say_nothing = false;
  std::shared_ptr<const arrow::KeyValueMetadata> metadata;
};

struct ImportedLog {
  std::unique_ptr<LogFiles> files;  ///< to be closed when everything else has worked
  ValueKinds kinds;
  std::int64_t num_dropped = 0;
};

/// Refuse a directory that holds imported files, unless `force` is set.
arrow::Status CheckTarget(const ImportOptions& options);

/// Read the text and write its rows to files that do not show yet. Columns, dropped rows
/// and comments are added to `summary`.
arrow::Result<ImportedLog> ImportLog(const LogImport& import,
                                     const ImportOptions& options,
                                     const RunContext& context, ImportSummary* summary);

/// Let the files of `logs` appear, that of the edges first, and complete the summary.
arrow::Status Publish(std::span<const ImportedLog> logs, const ImportOptions& options,
                      const RunContext& context, ImportSummary* summary);

}  // namespace coden::importing
