#pragma once

#include <span>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/import/import.h"

namespace coden {

enum class EdgeFeatures { kIgnore, kAsUpdates };

/// Options of the importer for JODIE's interaction files.
struct JodieOptions : ImportOptions {
  EdgeFeatures edge_features = EdgeFeatures::kIgnore;

  static std::span<const ImportFlag<JodieOptions>> Flags();
};

/// Write a file of interactions (user, item, time, state label, features) as
/// edges.parquet (src is the user, dst the item, time) in the directory `out`, and
/// labels.parquet (node is the user, label, time) unless every state label is 0.
///
/// Users and items are two sets of ids that overlap in the file and not in the log: whole
/// numbers from 0 keep the users and add the largest user id + 1 to the items, as is
/// usual for these data sets; strings become u12 and i7. The first way needs a temporary
/// copy of the log in `out`, because the largest user is known at the end.
///
/// Features belong to interactions, which coden has none for: they are left out and
/// reported, or with kAsUpdates written as feature_updates.parquet (node is the user,
/// time, x). Otherwise as ImportEdgeList.
arrow::Result<ImportSummary> ImportJodie(const JodieOptions& options,
                                         const RunContext& context);

}  // namespace coden
