#pragma once

#include <vector>

#include <arrow/result.h>

#include "coden/embed/label_embedder.h"
#include "coden/store/run_store.h"

namespace coden {

/// Write what a label embedder is after its last snapshot, so that another one can go on
/// from there with the same bits: state/labels.json (where it stands in the schedule and
/// what its engines remember), state/labels.parquet (labels in force), and its columns
/// (state/labels-w*.parquet). May be called from its `after_snapshot`.
arrow::Result<std::vector<FileRecord>> StageLabelState(RunStore& store,
                                                       const LabelEmbedder& labels);

/// Bring a new label embedder with the same options to where the saved one was. Its
/// schedule must begin with that of the saved one. It may have more nodes, and other
/// seeds (LabelEmbedder::ContinueAfter).
arrow::Status LoadLabelState(const RunStore& store, LabelEmbedder& labels);

}  // namespace coden
