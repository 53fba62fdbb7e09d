// Whether the inputs of a run name the nodes of its log. One that names none of them
// would go unnoticed: every embedding would be zero, or every label would be left out.
#pragma once

#include <string>
#include <vector>

#include <arrow/status.h>

#include "coden/settings/settings.h"
#include "coden/state/run_inputs.h"
#include "coden/store/input_counts.h"
#include "coden/store/run_store.h"

namespace coden {

/// Refuse features, feature updates, labels and a split that name no node of the log;
/// count the rows of the first two, and add a note for each that names few. `sampled` is
/// what the sampler knows of every node.
arrow::Status CheckIdsOfLog(const Settings& settings, const RunInputs& inputs,
                            const std::vector<SampledNode>& sampled, InputCounts* counts,
                            std::vector<std::string>* notes);

/// The same for the labels and the split of a training, against the nodes that the run in
/// `store` has.
arrow::Status CheckIdsOfTraining(const Settings& settings, const RunStore& store,
                                 InputCounts* counts, std::vector<std::string>* notes);

}  // namespace coden
