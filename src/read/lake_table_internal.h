// Tables of Delta Lake and Iceberg. Which of their files count is written in the log of
// the table; the folder also has files that the table has removed or replaced.
#pragma once

#include <string>
#include <vector>

#include <arrow/status.h>

#include "coden/read/parquet_source.h"
#include "coden/store/filesystem.h"

namespace coden {

/// Refuse `folder` where `chosen`, files of it that would be read, belong to a table in
/// it. `listed` are all files below the folder. `shown` is how messages call the input.
arrow::Status CheckNoTableInside(const std::vector<ParquetSource::File>& listed,
                                 const std::vector<ParquetSource::File>& chosen,
                                 const std::string& folder, const std::string& shown);

/// Refuse `path`, which is inside `location`, where a folder above it is a table.
///
/// Local folders are looked up to the root. A store is asked about the folder of a file,
/// and from there, or from `path`, upwards only through folders that tables make
/// (day=2024-01-05/, data/): two listings for each.
arrow::Status CheckNoTableAbove(const Location& location, const std::string& path,
                                bool is_file, const std::string& shown);

}  // namespace coden
