#pragma once

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "coden/embed/embedding_engine.h"
#include "coden/graph/event_graph.h"
#include "coden/sample/schedule.h"

namespace coden {

/// Bring a replayed graph to the moment of a snapshot, and `changes` to what differs from
/// the one before it. The caller clears them when its engines have been updated.
void SettleAt(const SchedulePoint& point, EventGraph& graph,
              NeighbourhoodChanges& changes);

/// Bring an engine to a snapshot of a settled graph, and say why its numbers cannot be
/// used, if they cannot. `options` are the engine's.
arrow::Result<SolveWork> UpdateAt(const SchedulePoint& point, const DynamicGraph& graph,
                                  const NeighbourhoodChanges& changes,
                                  const EmbedOptions& options,
                                  const arrow::StopToken& stop, EmbeddingEngine& engine);

}  // namespace coden
