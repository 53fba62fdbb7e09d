#include "coden/snapshot/snapshot_cache.h"

#include <arrow/array/concatenate.h>
#include <arrow/builder.h>
#include <arrow/compute/api.h>
#include <arrow/util/byte_size.h>

namespace coden {

arrow::Status SnapshotCache::Follow(const NodeIdMap& nodes) {
  nodes_ = &nodes;
  wanted_.assign(nodes.size(), false);
  ARROW_ASSIGN_OR_RAISE(const auto ids, keep_->Ids(0, keep_->size()));
  // Ids of another type are refused by the training itself.
  if (!ids->type()->Equals(nodes.id_type())) return arrow::Status::OK();
  std::vector<NodeId> found;
  ARROW_RETURN_NOT_OK(nodes.Find(*ids, &found));
  for (const NodeId node : found)
    if (node != kNoNode) wanted_[node] = true;
  return arrow::Status::OK();
}

arrow::Status SnapshotCache::Push(BatchPtr batch, const Emit& emit) {
  if (batch->num_rows() > 0 && bytes_left_ > 0) ARROW_RETURN_NOT_OK(Keep(*batch));
  return emit(std::move(batch));
}

arrow::Status SnapshotCache::Keep(const arrow::RecordBatch& batch) {
  const auto& numbers =
      static_cast<const arrow::Int32Array&>(*batch.GetColumnByName("node"));
  arrow::Int64Builder rows;
  std::vector<NodeId> kept;
  for (std::int64_t row = 0; row < numbers.length(); ++row) {
    if (!wanted_[numbers.Value(row)]) continue;
    kept.push_back(numbers.Value(row));
    ARROW_RETURN_NOT_OK(rows.Append(row));
  }
  ARROW_ASSIGN_OR_RAISE(const auto wanted, rows.Finish());
  ARROW_ASSIGN_OR_RAISE(const auto ids, nodes_->Take(kept));
  ARROW_ASSIGN_OR_RAISE(
      const auto embeddings,
      arrow::compute::Take(*batch.GetColumnByName("embedding"), *wanted));
  auto piece = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("node", ids->type()),
                     arrow::field("embedding", embeddings->type())}),
      ids->length(), {ids, embeddings});
  bytes_left_ -= arrow::util::TotalBufferSize(*piece);
  if (bytes_left_ <= 0) {
    pieces_.clear();
    return arrow::Status::OK();
  }
  // The batches of a snapshot are of that one alone.
  const auto& snapshots =
      static_cast<const arrow::Int32Array&>(*batch.GetColumnByName("snapshot"));
  pieces_[snapshots.Value(0)].push_back(std::move(piece));
  return arrow::Status::OK();
}

arrow::Result<std::optional<SnapshotRows>> SnapshotCache::Find(int snapshot) const {
  const auto found = pieces_.find(snapshot);
  if (found == pieces_.end()) return std::nullopt;
  arrow::ArrayVector ids, numbers;
  std::int64_t num_channels = 0;
  for (const BatchPtr& piece : found->second) {
    ids.push_back(piece->column(0));
    const auto& lists = static_cast<const arrow::ListArray&>(*piece->column(1));
    if (lists.length() > 0) num_channels = lists.value_length(0);
    ARROW_ASSIGN_OR_RAISE(numbers.emplace_back(), lists.Flatten());
  }
  ARROW_ASSIGN_OR_RAISE(auto all_ids, arrow::Concatenate(ids));
  ARROW_ASSIGN_OR_RAISE(const auto all_numbers, arrow::Concatenate(numbers));
  return SnapshotRows::Make(std::move(all_ids),
                            std::static_pointer_cast<arrow::FloatArray>(all_numbers),
                            num_channels);
}

}  // namespace coden
