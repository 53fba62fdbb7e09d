#pragma once

#include <string>
#include <string_view>

#include <arrow/result.h>

namespace coden {

/// Put the checksum of a text into it, as a line of its own, so that a damaged one is
/// never believed: `"xxh3": "..."` as the first member of a JSON object that was printed
/// with one member a line, or a comment before the settings of an ini file.
std::string SealJson(std::string_view text);
std::string SealIni(std::string_view text);

/// The text without its seal. A corruption error, which calls it `shown`, where it has
/// none of this form or is not what was sealed.
arrow::Result<std::string> UnsealJson(std::string_view sealed, const std::string& shown);
arrow::Result<std::string> UnsealIni(std::string_view sealed, const std::string& shown);

}  // namespace coden
