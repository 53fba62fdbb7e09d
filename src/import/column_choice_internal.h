// Which column of a text plays which part: by name, by number, or by guess.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "import/text_format_internal.h"
#include "read/column_guess_internal.h"

namespace coden::importing {

/// In place of a time: the number of the row.
inline constexpr int kRowNumber = -2;

/// Places of the columns in a row, from 0.
struct ColumnChoice {
  int src = kNoColumn;  ///< or the node of a label
  int dst = kNoColumn;
  int time = kNoColumn;
  int op = kNoColumn;
  int label = kNoColumn;
  std::vector<int> features;
};

/// Whether a header has well-known names for both ends of an edge.
bool NamesBothEnds(std::span<const std::string> names);

/// Choose the columns of an edge list as the options ask. `name` is that of the input in
/// messages; what cannot be told is an error that lists the columns.
arrow::Result<ColumnChoice> ChooseColumns(const TextFormat& format,
                                          const EdgeListOptions& options,
                                          const std::string& name);

/// Find a column that must be there, by its name in the header.
arrow::Result<int> FindColumn(const TextFormat& format, const std::string& column,
                              const std::string& name);

/// What became of every column, neighbours that fare alike in one entry.
std::vector<ImportedColumn> DescribeColumns(const TextFormat& format,
                                            const ColumnChoice& choice,
                                            const std::string& file);

}  // namespace coden::importing
