#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coden/base/option.h"
#include "coden/store/parquet_file.h"

namespace coden {

/// One option of an importer, declared once beside it. An empty default means that it has
/// to be given.
template <typename Options>
using ImportFlag = Option<Options>;

enum class ImportIds { kAuto, kInteger, kString };

enum class OnRowError { kStop, kSkip };

/// What every importer takes.
struct ImportOptions {
  std::string file = {};  ///< a path, or - for standard input; no flag
  bool force = false;     ///< replace files that are there; no flag
  std::string out = {};
  ImportIds ids = ImportIds::kAuto;
  std::optional<double> time_scale = {};
  bool sort = false;
  OnRowError on_error = OnRowError::kStop;
};

/// What became of a column of the text.
struct ImportedColumn {
  std::string file;
  std::string number;   ///< from 1; a range where several columns fare alike
  std::string name;     ///< empty without a header
  std::string becomes;  ///< such as src; empty where it is not imported
};

/// Rows that were left out for one reason.
struct DroppedRows {
  std::string file;
  std::string reason;
  std::int64_t rows = 0;
  std::int64_t first_line = 0;  ///< 0 where it is not known
};

/// What an importer wrote. The paths of `files` begin with the option `out`.
struct ImportSummary {
  std::int64_t num_rows = 0;     ///< rows of the log
  std::int64_t num_dropped = 0;  ///< rows that are not in the log
  std::int64_t num_nodes = 0;    ///< ends of edges, each counted once
  std::string first_time;        ///< as the log has it: a whole number or a UTC time
  std::string last_time;
  std::int64_t num_comments = 0;  ///< lines that are not rows
  int feature_width = 0;          ///< of feature updates, where they are written
  bool has_op = false;
  std::vector<ImportedColumn> columns;
  std::vector<DroppedRows> dropped;  ///< of all files, labels included
  std::vector<FileRecord> files;
};

}  // namespace coden
