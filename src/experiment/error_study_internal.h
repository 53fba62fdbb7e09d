#pragma once

#include <vector>

#include <arrow/status.h>

#include "coden/base/progress.h"
#include "coden/settings/settings.h"
#include "experiment/trial_internal.h"

namespace coden {

/// Compare the committed snapshots of the run in `settings.run.directory`, and the shift
/// bounds of all kinds, with embeddings from another route. Adds for every snapshot
///
///     true_error            the largest ||h - z||_1 of the columns looked at, as written
///     proven_error          the bound that the run has proven for it
///     error_budget          n * epsilon
///     true_shift            the largest ||z - z of the snapshot before||_1, and
///     relative_shift        the same relative to the feature mass present
///     sigma_relative, sigma_strict, sigma_paper   the bounds on the shift; the first two
///                           are relative, the last one absolute
///
/// at most kStudiedColumns columns are looked at, evenly spaced. Strict bounds are left
/// out where they are not proven (`embed.propagation`).
inline constexpr int kStudiedColumns = 8;
arrow::Status StudyErrors(const Settings& settings, const RunContext& context,
                          std::vector<Measurement>* measurements);

}  // namespace coden
