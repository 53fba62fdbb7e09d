#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/pipeline/settings.h"
#include "coden/read/parquet_source.h"

namespace coden {

/// What a stage's result depends on, as one hash: a stage whose fingerprint is unchanged
/// need not run again.
struct Fingerprints {
  std::string input;  ///< the files the embedding reads
  std::string embed;  ///< the schedule and every embedding
  std::string train;  ///< the trained model and its metrics
};

/// Hash every input that `settings` names. Without `input.labels` the
/// `train` fingerprint is empty.
arrow::Result<Fingerprints> ComputeFingerprints(const Settings& settings);

/// The settings that decide the embedding, as `key = value` lines: what a run compares
/// and what snapshot files carry.
std::string EmbedParameters(const Settings& settings);

}  // namespace coden
