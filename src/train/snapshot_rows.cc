#include "train/snapshot_rows_internal.h"

#include <cmath>

#include <arrow/table.h>

#include "coden/pipeline/error.h"
#include "coden/store/parquet_file.h"

namespace coden {

namespace {

// Where the numbers of a list column start and how many each row has.
struct Lists {
  std::shared_ptr<arrow::Array> values;
  std::int64_t first = 0;
  std::int64_t length = 0;
};

arrow::Result<Lists> Flatten(const arrow::Array& column, const std::string& path) {
  Lists lists;
  if (column.type_id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& fixed = static_cast<const arrow::FixedSizeListArray&>(column);
    lists = {fixed.values(), fixed.value_offset(0), fixed.value_length(0)};
  } else if (column.type_id() == arrow::Type::LIST) {
    const auto& list = static_cast<const arrow::ListArray&>(column);
    if (list.length() > 0) {
      lists = {list.values(), list.value_offset(0), list.value_length(0)};
    } else {
      lists.values = list.values();
    }
    for (std::int64_t row = 0; row < list.length(); ++row) {
      if (list.value_length(row) != lists.length) {
        return CorruptionError("'", path, "', column 'embedding': every row must have ",
                               lists.length, " numbers, row ", row, " has ",
                               list.value_length(row));
      }
    }
  } else {
    return CorruptionError("'", path, "', column 'embedding' must be a list of float: ",
                           column.type()->ToString());
  }
  return lists;
}

arrow::Result<const float*> Floats(const arrow::Array& array, const std::string& path) {
  if (array.type_id() != arrow::Type::FLOAT) {
    return CorruptionError("'", path,
                           "': embeddings must be float: ", array.type()->ToString());
  }
  return static_cast<const arrow::FloatArray&>(array).raw_values();
}

}  // namespace

arrow::Result<SnapshotRows> SnapshotRows::Read(const RunStore& store,
                                               const std::string& name) {
  const std::string path = store.Show(name);
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, name));
  SnapshotRows rows;
  ARROW_ASSIGN_OR_RAISE(rows.batch_, table->CombineChunksToBatch());
  rows.nodes_ = rows.batch_->GetColumnByName("node");
  if (rows.nodes_ == nullptr) return CorruptionError("'", path, "' has no column 'node'");
  for (const auto& column : rows.batch_->columns()) {
    if (column->null_count() > 0) return CorruptionError("'", path, "' has nulls");
  }
  const auto embedding = rows.batch_->GetColumnByName("embedding");
  if (embedding != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const Lists lists, Flatten(*embedding, path));
    if (lists.values->null_count() > 0) return CorruptionError("'", path, "' has nulls");
    ARROW_ASSIGN_OR_RAISE(const float* first, Floats(*lists.values, path));
    rows.num_channels_ = rows.row_stride_ = lists.length;
    for (std::int64_t channel = 0; channel < lists.length; ++channel) {
      rows.channels_.push_back(first + lists.first + channel);
    }
    return rows;
  }
  rows.row_stride_ = 1;
  for (;; ++rows.num_channels_) {
    const auto column =
        rows.batch_->GetColumnByName("e" + std::to_string(rows.num_channels_));
    if (column == nullptr) break;
    ARROW_ASSIGN_OR_RAISE(const float* first, Floats(*column, path));
    rows.channels_.push_back(first);
  }
  if (rows.num_channels_ == 0) {
    return CorruptionError("'", path, "' has neither a column 'embedding' nor 'e0'");
  }
  return rows;
}

bool SnapshotRows::CopyNormalised(std::int64_t row, float* out) const {
  double square_sum = 0.0;
  for (std::int64_t channel = 0; channel < num_channels_; ++channel) {
    const double value = channels_[channel][row * row_stride_];
    square_sum += value * value;
  }
  const double scale = square_sum > 0.0 ? 1.0 / std::sqrt(square_sum) : 0.0;
  for (std::int64_t channel = 0; channel < num_channels_; ++channel) {
    out[channel] = static_cast<float>(channels_[channel][row * row_stride_] * scale);
  }
  return std::isfinite(square_sum);
}

}  // namespace coden
