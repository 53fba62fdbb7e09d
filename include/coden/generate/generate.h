#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/status.h>

#include "coden/snapshot/parquet_file.h"

namespace coden {

/// One option of a generator, declared once beside it. The flag, its help and its range
/// check are all made from this, as Setting does for the pipeline.
template <typename Options>
struct GenerateFlag {
  std::string name;
  std::string rule;          ///< which values are allowed, in words
  std::string help;          ///< what it does, one sentence
  std::string default_text;  ///< empty where the option has to be given
  std::function<arrow::Status(Options&, std::string_view)> set;
  std::function<std::string(const Options&)> get;
};

/// What a generator wrote. The paths of `files` begin with the option `out`.
struct GenerateSummary {
  std::int64_t num_nodes = 0;
  std::int64_t num_inserts = 0;
  std::int64_t num_deletes = 0;
  std::int64_t num_label_changes = 0;
  std::vector<FileRecord> files;
};

}  // namespace coden
