// What the text of one field stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "coden/base/types.h"
#include "import/row_problems_internal.h"

namespace coden::importing {

enum class IdKind { kInteger, kString };
enum class TimeKind { kNumber, kDate };

/// Without blanks at both ends.
std::string_view Trimmed(std::string_view text);

bool IsInteger(std::string_view text);
bool IsNumber(std::string_view text);
bool IsDate(std::string_view text);

/// Each fills `out` and returns nothing, or returns the rule that `text` breaks.
using Broken = std::optional<RowRule>;

/// `out` is filled for whole numbers only; a string is its text.
Broken ParseId(std::string_view text, IdKind kind, std::int64_t* out);
/// A class; 1.0 is the whole number 1, as pandas writes it.
Broken ParseLabel(std::string_view text, IdKind kind, std::int64_t* out);
/// `scale` multiplies numbers and allows fractions, which are rounded.
Broken ParseTime(std::string_view text, TimeKind kind, std::optional<double> scale,
                 EventTime* out);
Broken ParseOp(std::string_view text, std::int8_t* out);
Broken ParseFeature(std::string_view text, float* out);

}  // namespace coden::importing
