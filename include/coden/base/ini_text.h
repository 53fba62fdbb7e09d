#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

namespace coden {

/// One `name = value`.
struct IniSetting {
  std::string name;
  std::string text;
  int line = 0;          ///< from 1; 0 where it was not read from a text
  bool literal = false;  ///< it was in single quotes: `${` is no variable
};

struct IniSection {
  std::string name;  ///< empty: of settings above the first section
  std::vector<IniSetting> settings;
  int line = 0;
};

/// Parse the text of an ini file, such as a pipeline file.
///
/// A line is `[section]`, `name = value`, or empty. `#` and `;` begin a comment at the
/// start of a line and after a blank. A value may be in double or single quotes: then it
/// keeps comment signs and its blanks, and a quote inside is written twice. A section may
/// be continued further down; a name may be set once in a section. `\r\n`, a byte-order
/// mark and a missing last newline are accepted.
///
/// Anything else is a usage error that names the file as `shown`, and the line.
arrow::Result<std::vector<IniSection>> ParseIni(std::string_view text,
                                                std::string_view shown);

/// How a message says where in a file something is: `'p.ini', line 7: `.
std::string IniPlace(std::string_view shown, int line);

/// Write a value so that ParseIni reads it back: in quotes where it needs them. It must
/// not hold a line break.
std::string IniValue(std::string_view value);

/// Write a sentence as lines of a comment, 90 columns wide at most.
std::string IniComment(std::string_view sentence);

/// Write sections so that ParseIni reads them back.
std::string WriteIni(std::span<const IniSection> sections);

/// Find the text of one setting; empty if it is not there.
std::string_view FindIniSetting(std::span<const IniSection> sections,
                                std::string_view section, std::string_view name);

}  // namespace coden
