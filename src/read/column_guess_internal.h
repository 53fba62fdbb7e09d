// Which column of a table plays which part, by the names that such columns usually have.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace coden {

enum class ColumnRole { kSource, kTarget, kTime, kOp, kNode, kVector, kLabel };

/// The names a column of this role usually has, in lower case, most usual first.
std::span<const std::string_view> UsualNames(ColumnRole role);

inline constexpr int kNoColumn = -1;

/// Return the place of the column with the most usual name, upper and lower case being
/// equal; kNoColumn where none has one.
int GuessColumn(std::span<const std::string> names, ColumnRole role);

}  // namespace coden
