#include "coden/snapshot/snapshot_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/compute/api.h>
#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/graph/node_id_map.h"
#include "coden/snapshot/snapshot_cache.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"

namespace coden {

namespace {

using FloatsPtr = std::shared_ptr<arrow::FloatArray>;

// Join the chunks of a column of numbers as float32.
arrow::Result<FloatsPtr> Floats(const arrow::ArrayVector& chunks,
                                const std::shared_ptr<arrow::DataType>& type,
                                const std::string& path) {
  if (type->id() != arrow::Type::FLOAT && type->id() != arrow::Type::HALF_FLOAT) {
    return CorruptionError(
        "'", path, "': embeddings must be float or halffloat: ", type->ToString());
  }
  arrow::ArrayVector floats;
  for (const auto& chunk : chunks) {
    if (chunk->null_count() > 0) return CorruptionError("'", path, "' has nulls");
    ARROW_ASSIGN_OR_RAISE(floats.emplace_back(),
                          arrow::compute::Cast(*chunk, arrow::float32()));
  }
  if (floats.empty()) {
    ARROW_ASSIGN_OR_RAISE(floats.emplace_back(), arrow::MakeEmptyArray(arrow::float32()));
  }
  if (floats.size() == 1)
    return std::static_pointer_cast<arrow::FloatArray>(floats.front());
  ARROW_ASSIGN_OR_RAISE(const auto joined, arrow::Concatenate(floats));
  return std::static_pointer_cast<arrow::FloatArray>(joined);
}

// The numbers of a column of lists, which must all have one length.
arrow::Result<FloatsPtr> FlattenLists(const arrow::ChunkedArray& column,
                                      const std::string& path, std::int64_t* length) {
  const auto& type = *column.type();
  if (type.id() != arrow::Type::LIST && type.id() != arrow::Type::FIXED_SIZE_LIST) {
    return CorruptionError(
        "'", path, "', column 'embedding' must be a list of float: ", type.ToString());
  }
  arrow::ArrayVector chunks;
  std::int64_t row = 0;
  for (const auto& chunk : column.chunks()) {
    if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
      const auto& lists = static_cast<const arrow::FixedSizeListArray&>(*chunk);
      *length = lists.value_length(0);
      ARROW_ASSIGN_OR_RAISE(chunks.emplace_back(), lists.Flatten());
      continue;
    }
    const auto& lists = static_cast<const arrow::ListArray&>(*chunk);
    for (std::int64_t i = 0; i < lists.length(); ++i, ++row) {
      if (row == 0) *length = lists.value_length(i);
      if (lists.value_length(i) == *length) continue;
      return CorruptionError("'", path, "', column 'embedding': every row must have ",
                             *length, " numbers, row ", row, " has ",
                             lists.value_length(i));
    }
    ARROW_ASSIGN_OR_RAISE(chunks.emplace_back(), lists.Flatten());
  }
  return Floats(chunks, type.field(0)->type(), path);
}

// The numbers of the columns e0, e1, ... row by row.
arrow::Result<FloatsPtr> JoinColumns(const arrow::Table& table, const std::string& path,
                                     std::int64_t* length) {
  std::vector<FloatsPtr> columns;
  while (const auto column =
             table.GetColumnByName("e" + std::to_string(columns.size()))) {
    ARROW_ASSIGN_OR_RAISE(columns.emplace_back(),
                          Floats(column->chunks(), column->type(), path));
  }
  if (columns.empty()) {
    return CorruptionError("'", path, "' has neither a column 'embedding' nor 'e0'");
  }
  *length = static_cast<std::int64_t>(columns.size());
  const std::int64_t count = table.num_rows() * *length;
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> numbers,
                        arrow::AllocateBuffer(count * sizeof(float)));
  auto* out = reinterpret_cast<float*>(numbers->mutable_data());
  for (std::int64_t row = 0; row < table.num_rows(); ++row) {
    for (const FloatsPtr& column : columns) *out++ = column->Value(row);
  }
  return std::make_shared<arrow::FloatArray>(count, std::move(numbers));
}

}  // namespace

arrow::Result<SnapshotRows> SnapshotRows::Read(const RunStore& store,
                                               const std::string& name) {
  const std::string path = store.Show(name);
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, name));
  const auto nodes = table->GetColumnByName("node");
  if (nodes == nullptr) return CorruptionError("'", path, "' has no column 'node'");
  for (const auto& column : table->columns()) {
    if (column->null_count() > 0) return CorruptionError("'", path, "' has nulls");
  }
  SnapshotRows rows;
  if (nodes->num_chunks() == 0) {
    ARROW_ASSIGN_OR_RAISE(rows.nodes_, arrow::MakeEmptyArray(nodes->type()));
  } else {
    ARROW_ASSIGN_OR_RAISE(rows.nodes_, arrow::Concatenate(nodes->chunks()));
  }
  const auto embedding = table->GetColumnByName("embedding");
  ARROW_ASSIGN_OR_RAISE(rows.numbers_,
                        embedding != nullptr
                            ? FlattenLists(*embedding, path, &rows.num_channels_)
                            : JoinColumns(*table, path, &rows.num_channels_));
  return rows;
}

arrow::Result<SnapshotRows> SnapshotRows::LaidUnder(const SnapshotRows& own) const {
  if (num_rows() == 0) return own;
  if (!own.nodes_->type()->Equals(*nodes_->type())) {
    return CorruptionError(
        "the snapshots of a run must have ids of one type: ", nodes_->type()->ToString(),
        " and ", own.nodes_->type()->ToString());
  }
  ARROW_ASSIGN_OR_RAISE(const auto index, NodeIdMap::Make(nodes_->type()));
  // The map counts ids in order, so what it gives for an id is its row in the result.
  std::vector<NodeId> place;
  ARROW_RETURN_NOT_OK(index->Encode(*nodes_, &place));
  if (index->size() != num_rows()) {
    return CorruptionError("a snapshot must have one row per node: it has ", num_rows(),
                           " rows of ", index->size(), " nodes");
  }
  ARROW_RETURN_NOT_OK(index->Encode(*own.nodes_, &place));
  SnapshotRows whole;
  whole.num_channels_ = num_channels_;
  ARROW_ASSIGN_OR_RAISE(whole.nodes_, index->Ids(0, index->size()));
  const std::int64_t count = whole.num_rows() * num_channels_;
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> numbers,
                        arrow::AllocateBuffer(count * sizeof(float)));
  auto* out = reinterpret_cast<float*>(numbers->mutable_data());
  std::copy_n(numbers_->raw_values(), numbers_->length(), out);
  for (std::int64_t i = 0; i < own.num_rows(); ++i) {
    const auto from = own.row(i);
    std::copy(from.begin(), from.end(), out + place[i] * num_channels_);
  }
  whole.numbers_ = std::make_shared<arrow::FloatArray>(count, std::move(numbers));
  return whole;
}

arrow::Result<SnapshotRows> SnapshotReader::Read(const SchedulePoint& point,
                                                 std::int64_t num_channels) {
  if (cache_ != nullptr) {
    ARROW_ASSIGN_OR_RAISE(auto kept, cache_->Find(point.snapshot));
    if (kept) return *std::move(kept);
  }
  const auto read = [&](int snapshot) -> arrow::Result<SnapshotRows> {
    const std::string name = RunLayout::Snapshot(snapshot);
    ARROW_ASSIGN_OR_RAISE(SnapshotRows rows, SnapshotRows::Read(store_, name));
    if (rows.num_rows() > 0 && num_channels > 0 && rows.num_channels() != num_channels) {
      return CorruptionError(
          "all snapshots must have embeddings of one length: ", num_channels,
          " and, in '", store_.Show(name), "', ", rows.num_channels());
    }
    if (rows.num_rows() > 0) num_channels = rows.num_channels();
    return rows;
  };
  const int base = point.base.value_or(point.snapshot);
  if (base_ != base) {
    ARROW_ASSIGN_OR_RAISE(base_rows_, read(base));
    base_ = base;
  }
  if (base_rows_.num_rows() > 0) num_channels = base_rows_.num_channels();
  if (base == point.snapshot) return base_rows_;
  ARROW_ASSIGN_OR_RAISE(const SnapshotRows own, read(point.snapshot));
  return base_rows_.LaidUnder(own);
}

}  // namespace coden
