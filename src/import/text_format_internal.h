// How a delimited text is written: found from its first lines, or given.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coden/import/edge_list.h"

namespace coden::importing {

/// Stands for any run of blanks and tabs between fields. Quotes mean nothing then.
inline constexpr char kBlanks = ' ';

struct TextFormat {
  char delimiter = ',';
  bool header = false;
  std::vector<std::string> names;  ///< of the header; empty without one
  int num_fields = 0;              ///< of a row
};

/// Cut a line into fields; quotes around a field are taken off.
std::vector<std::string> SplitLine(std::string_view line, char delimiter);

/// Whether the line is of no interest: it begins, after blanks, with one of `comments`.
bool IsComment(std::string_view line, std::string_view comments);

/// The lines of `text` that are neither empty nor comments, without line ends. Where the
/// text goes on (`whole` is false) the last line is left out, as it may be cut.
std::vector<std::string_view> RowLines(std::string_view text, bool whole,
                                       std::string_view comments);

/// Find the format of `lines`, of which there is at least one. What is given is kept.
///
/// Delimiter: of comma, tab and semicolon the one that most lines have equally often,
/// two fields or more; blanks where none fits, or where they alone make every field a
/// number (KONECT mixes blanks and tabs). Header: the first row has text where all others
/// have a number or a date, or it has the names of both ends of an edge.
TextFormat FindFormat(std::span<const std::string_view> lines, char delimiter,
                      HeaderRow header);

}  // namespace coden::importing
