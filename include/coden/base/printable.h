#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace coden {

/// What Printable leaves as it is.
enum class PrintableMode {
  kOneLine,    ///< nothing that moves the cursor: the form for tables and pages
  kMultiLine,  ///< tabs and line breaks too, where the format quotes them
  kEncoded,    ///< all valid UTF-8, where the format has its own escapes
};

/// Make text that comes from data safe to show: valid UTF-8 without control characters.
///
/// Bytes that are no UTF-8 become \xff, control characters \n or \x1b, and characters
/// that reorder or hide the text around them \u{202e}. All other text stays as it is, and
/// so do backslashes: the result is to be read by people, not to be decoded.
std::string Printable(std::string_view text,
                      PrintableMode mode = PrintableMode::kOneLine);

/// Count the terminal columns of printable text: none for a combining mark, two for a
/// wide East Asian character or an emoji.
int DisplayWidth(std::string_view text);

/// Put *** in place of user and password in every URI of `text` (s3://key:secret@bucket),
/// and of every parameter whose name tells a secret (?secret_key=...).
std::string MaskCredentials(std::string_view text);

/// Write a finite number with `digits` after the point, and a number that is not finite
/// as an empty text. Independent of the locale, as are those below.
std::string FormatFixed(double value, int digits);

/// Write a finite number as 1.5e-07 with `digits` after the point, and a number that is
/// not finite as an empty text.
std::string FormatScientific(double value, int digits);

/// Write the shortest text that reads back as `value`.
std::string FormatShortest(double value);

/// Write a count with a comma between groups of three digits.
std::string FormatCount(std::int64_t value);

/// A number of bytes in megabytes, rounded up: 294 MB, and 3.2 MB below 100 MB.
std::string FormatBytes(std::int64_t bytes);

/// 0.42 s, 35.1 s, 3 min 12 s, 2 h 5 min; empty if negative or not finite.
std::string FormatSeconds(double seconds);

/// A count and what is counted: "1,234 rows".
std::string CountOf(std::int64_t value, std::string_view noun);

}  // namespace coden
