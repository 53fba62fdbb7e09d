#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/node_id_map.h"
#include "coden/read/parquet_source.h"
#include "coden/settings/input_options.h"

namespace coden {

/// Rows of a features file or of a feature-updates file.
struct FeatureRows {
  std::vector<NodeId> nodes;
  std::vector<EventTime> times;  ///< empty for a features file
  int width = 0;
  std::vector<float> values;  ///< rows x width

  std::int64_t size() const { return static_cast<std::int64_t>(nodes.size()); }
  std::span<const float> Row(std::int64_t row) const {
    return {values.data() + static_cast<std::size_t>(row) * width,
            static_cast<std::size_t>(width)};
  }
};

enum class FeatureFile {
  kFeatures,  ///< node, vector; at most one row per node
  kUpdates,   ///< node, time, vector; in time order
};

/// Stream a features file, checking every row: one width throughout, no nulls, finite
/// numbers, no node twice (features) or no time that falls (updates).
class FeatureReader {
 public:
  /// `id_type` is that of the edge log; a file with another kind of ids is refused.
  /// `width` is the length that every vector must have, -1 for that of the first.
  static arrow::Result<std::unique_ptr<FeatureReader>> Open(
      const InputOptions& input, FeatureFile kind,
      const std::shared_ptr<arrow::DataType>& id_type, int width = -1);
  ~FeatureReader();

  /// Read the next rows, numbering nodes through `nodes`; nothing at the end.
  arrow::Result<std::optional<FeatureRows>> Next(NodeIdMap& nodes);

 private:
  FeatureReader();

  struct Checks;
  FeatureFile kind_ = FeatureFile::kFeatures;
  std::vector<std::string> columns_;  // node, vector[, time]
  std::shared_ptr<arrow::DataType> id_type_;
  std::unique_ptr<ParquetSource> source_;
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::int64_t rows_ = 0;
  std::unique_ptr<Checks> checks_;
};

}  // namespace coden
