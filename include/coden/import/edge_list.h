#pragma once

#include <span>
#include <string>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/import/import.h"

namespace coden {

enum class HeaderRow { kAuto, kYes, kNo };

/// Options of the importer for delimited edge lists.
struct EdgeListOptions : ImportOptions {
  char delimiter = '\0';  ///< '\0' is found, ' ' is any run of blanks
  HeaderRow header = HeaderRow::kAuto;
  std::string comments = "#%";
  std::string src = "auto";
  std::string dst = "auto";
  std::string time = "auto";
  std::string op = "auto";
  std::string label = "none";

  static std::span<const ImportFlag<EdgeListOptions>> Flags();
};

/// Write the rows of a delimited text file as edges.parquet (src, dst, time and, where a
/// column of that name is there or chosen, op) in the directory `out`; with `label` also
/// labels.parquet (node, label, time), where the label is that of `src`.
///
/// Delimiter, header and columns are found from the first lines unless they are given.
/// Ids are int64 where all of the first block are whole numbers, otherwise strings. Times
/// are whole numbers, or UTC timestamps in microseconds where the file has ISO dates.
/// Rows keep their order, or are sorted stably by time with `sort`. Labels are those that
/// change something: a row that repeats a node's label is left out and counted.
///
/// Memory grows with the number of nodes, not of rows. Each file appears when all rows of
/// all files are written; an error or a stop before leaves earlier files as they were.
arrow::Result<ImportSummary> ImportEdgeList(const EdgeListOptions& options,
                                            const RunContext& context);

}  // namespace coden
