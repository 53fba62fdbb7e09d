#pragma once

#include <cstdint>

namespace coden {

/// Dense index of a node, in order of first appearance. Signed, as Arrow's offsets are.
using NodeId = std::int32_t;

/// Time of an event, in the unit of the log's own time column.
using EventTime = std::int64_t;

inline constexpr NodeId kNoNode = -1;
/// Before every time of a log.
inline constexpr EventTime kNoTime = -1;

/// What one row of the normalised event stream says.
enum class EventKind : std::int8_t {
  kInsert = 0,
  kDelete = 1,
  kToggle = 2,
  /// Punctuation set by `partition`: the initial graph ends here.
  kStart = 3,
  /// Punctuation set by `partition`: a prediction time closes here; `time` is that time.
  kPredict = 4,
};

struct EdgeEvent {
  NodeId src = kNoNode;
  NodeId dst = kNoNode;
  EventTime time = 0;
  EventKind kind = EventKind::kInsert;
};

}  // namespace coden
