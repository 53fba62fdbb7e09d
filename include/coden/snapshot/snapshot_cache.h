#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <arrow/result.h>

#include "coden/base/operator.h"
#include "coden/graph/node_id_map.h"
#include "coden/settings/snapshot_options.h"
#include "coden/snapshot/snapshot_rows.h"

namespace coden {

/// Keep the snapshot rows of some nodes on their way to the writer, so that training in
/// the same process need not read them back. Its rows are those of the files, bit for
/// bit.
class SnapshotCache : public Operator {
 public:
  /// Keep rows of the nodes `keep`, `limit` bytes of them at most: beyond that nothing is
  /// kept any more, and the files are there to be read.
  SnapshotCache(std::shared_ptr<const NodeIdMap> keep, std::int64_t limit)
      : keep_(std::move(keep)), bytes_left_(limit) {}

  /// The numbers that come are those of `nodes`, which must outlive the pass.
  arrow::Status Follow(const NodeIdMap& nodes);

  /// Whether the files hold every number as it is embedded.
  static bool Applies(const SnapshotOptions& options) {
    return options.mode == SnapshotMode::kFull &&
           options.precision == SnapshotPrecision::kFloat32;
  }

  std::string_view name() const override { return "cache"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override { return input; }
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit&) override { return arrow::Status::OK(); }

  /// The rows that are kept of a snapshot, where it went by.
  arrow::Result<std::optional<SnapshotRows>> Find(int snapshot) const;
  void Drop(int snapshot) { pieces_.erase(snapshot); }
  void Clear() { pieces_.clear(); }

 private:
  arrow::Status Keep(const arrow::RecordBatch& batch);

  std::shared_ptr<const NodeIdMap> keep_;
  const NodeIdMap* nodes_ = nullptr;
  std::vector<bool> wanted_;  // by number
  std::int64_t bytes_left_;
  std::map<int, std::vector<BatchPtr>> pieces_;  // by snapshot, in order
};

}  // namespace coden
