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
/// Folders are looked up to the root, or to the bucket: tables put files as deep as they
/// like (data/0101/1100/, ab/). In a store that is two listings for each of at most 24
/// folders.
arrow::Status CheckNoTableAbove(const Location& location, const std::string& path,
                                const std::string& shown);

/// The same for those of `chosen`, local files below `folder`, that lie elsewhere because
/// they are symbolic links or in a linked folder.
arrow::Status CheckNoTableBehindLinks(const Location& location, const std::string& folder,
                                      const std::vector<ParquetSource::File>& chosen,
                                      const std::string& shown);

}  // namespace coden
