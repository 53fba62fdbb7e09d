#pragma once

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "coden/embed/embedding_engine.h"
#include "coden/sample/schedule.h"

namespace coden {

/// Bring an engine to the graph of a snapshot, and say why its numbers cannot be used, if
/// they cannot. `options` are the engine's.
arrow::Result<SolveWork> UpdateAt(const SchedulePoint& point, const SnapshotGraph& graph,
                                  const EmbedOptions& options,
                                  const arrow::StopToken& stop, EmbeddingEngine& engine);

}  // namespace coden
