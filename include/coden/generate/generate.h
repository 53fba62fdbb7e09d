#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coden/base/option.h"
#include "coden/store/parquet_file.h"

namespace coden {

/// One option of a generator, declared once beside it. An empty default means that it has
/// to be given.
template <typename Options>
using GenerateFlag = Option<Options>;

/// What a generator wrote. The paths of `files` begin with the option `out`.
struct GenerateSummary {
  std::int64_t num_nodes = 0;
  std::int64_t num_inserts = 0;
  std::int64_t num_deletes = 0;
  std::int64_t num_undrawn = 0;  ///< edges for which no free pair was found
  std::int64_t num_label_changes = 0;
  std::vector<FileRecord> files;
};

}  // namespace coden
