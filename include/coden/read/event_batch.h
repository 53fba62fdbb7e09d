#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type_fwd.h>

#include "coden/base/types.h"

namespace coden {

/// The normalised event stream between `read`, `partition`, `sample` and `embed`: src and
/// dst as NodeId, time, kind, and the row of the edge log; -1 where it is not one.
std::shared_ptr<arrow::Schema> EventSchema();

/// Make a batch of EventSchema of its columns, which have one length. `times` has no
/// nulls.
std::shared_ptr<arrow::RecordBatch> EventBatch(std::vector<NodeId> src,
                                               std::vector<NodeId> dst,
                                               std::shared_ptr<arrow::Array> times,
                                               std::vector<std::int8_t> kinds,
                                               std::vector<std::int64_t> rows);

/// Collect events and hand them out as a batch of EventSchema.
class EventBatchBuilder {
 public:
  void Append(const EdgeEvent& event, std::int64_t row = -1);
  std::int64_t num_rows() const { return static_cast<std::int64_t>(time_.size()); }
  /// Return what was collected and start anew.
  std::shared_ptr<arrow::RecordBatch> Finish();

 private:
  std::vector<NodeId> src_;
  std::vector<NodeId> dst_;
  std::vector<EventTime> time_;
  std::vector<std::int8_t> kind_;
  std::vector<std::int64_t> row_;
};

/// Look at a batch of EventSchema as events. The batch must outlive the view.
class EventView {
 public:
  explicit EventView(const arrow::RecordBatch& batch);
  std::int64_t size() const { return static_cast<std::int64_t>(time_.size()); }
  EventTime time(std::int64_t row) const { return time_[row]; }
  std::span<const NodeId> sources() const { return src_; }
  std::span<const NodeId> targets() const { return dst_; }
  std::span<const EventTime> times() const { return time_; }
  std::span<const std::int8_t> kinds() const { return kind_; }
  std::span<const std::int64_t> rows() const { return row_; }
  EdgeEvent operator[](std::int64_t row) const {
    return {src_[row], dst_[row], time_[row], static_cast<EventKind>(kind_[row])};
  }

 private:
  std::span<const NodeId> src_;
  std::span<const NodeId> dst_;
  std::span<const EventTime> time_;
  std::span<const std::int8_t> kind_;
  std::span<const std::int64_t> row_;
};

}  // namespace coden
