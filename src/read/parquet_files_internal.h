// Which files an input consists of, and in which order they are read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "coden/read/parquet_source.h"
#include "coden/store/filesystem.h"

namespace coden {

/// A path with one of these is a pattern.
inline constexpr std::string_view kGlobSigns = "*?[";

/// List the files that `location` stands for: those of `known` first, in that order, then
/// the others in path order. Their rows are not counted yet. `shown` is how messages call
/// the input.
arrow::Result<std::vector<ParquetSource::File>> ListParquetFiles(
    const Location& location, const std::string& shown,
    const std::vector<std::string>& known);

/// Whether a file called `a` is read before `b`. Names go by their text, except that
/// folders of one key (day=2, day=10) with whole numbers go by the number, before any of
/// that key without.
bool IsReadBefore(std::string_view a, std::string_view b);

}  // namespace coden
