#pragma once

#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/settings/settings.h"
#include "coden/state/log_segments.h"
#include "coden/store/manifest.h"

namespace coden {

/// What a stage's result depends on, as one hash: a stage whose fingerprint is unchanged
/// need not run again.
struct Fingerprints {
  std::string embed;  ///< the schedule and every embedding
  std::string train;  ///< the trained model and its metrics
  std::vector<InputRecord> embed_inputs;
  std::vector<InputRecord> train_inputs;
};

/// Hash every input that `settings` names. A file that is recorded in `known` with the
/// size and the time of modification it has now is not read again. With `known_first`
/// those files also come first in the log, as for a run that goes on; a run that is made
/// anew reads all in path order. Without `input.labels` the `train` fingerprint is empty.
/// The log is taken to be what the part `log_of` has recorded, if one is given, and is
/// then not looked at.
arrow::Result<Fingerprints> ComputeFingerprints(const Settings& settings,
                                                const Manifest& known = {},
                                                bool known_first = true,
                                                const PartRecord* log_of = nullptr);

/// `inputs` without the files of the log.
std::vector<InputRecord> WithoutLog(std::vector<InputRecord> inputs);

/// Fail where one of `inputs` is no longer the file that ComputeFingerprints has seen:
/// what was read in between may come from one and from the other. Called before every
/// commit; looks at sizes and times of modification only. Files that are new do not
/// count.
arrow::Status CheckInputsStay(const Settings& settings,
                              const std::vector<InputRecord>& inputs);

/// The settings that decide the embedding, as `key = value` lines.
std::string EmbedParameters(const Settings& settings);

/// The settings that decide the training, beyond those of the embedding, as `key = value`
/// lines.
std::string TrainParameters(const Settings& settings);

/// How the inputs of an earlier run relate to those of now.
struct InputChange {
  bool grown = false;  ///< some files are new or other; the old rows may all be there
  bool verify_log =
      false;         ///< a file of the log was written anew: its rows must be checked
  std::string lost;  ///< what is gone or cannot grow; empty where nothing is
};
InputChange CompareInputs(const std::vector<InputRecord>& before,
                          const std::vector<InputRecord>& now);

/// One hash for the files that the embedding reads; labels do not count.
std::string InputFingerprint(const std::vector<InputRecord>& inputs);

/// `inputs` without the files of the log that `segments` has no row of: those whose rows
/// were all dropped as late, or are still to be used.
std::vector<InputRecord> UsedInputs(const std::vector<InputRecord>& inputs,
                                    std::span<const LogSegment> segments);

/// The names of the files of the log, in the order they are read in: those that rows were
/// used of, then the other ones.
std::vector<std::string> EdgeFiles(const std::vector<InputRecord>& inputs,
                                   std::span<const LogSegment> segments);

/// Name the settings that differ between two lists of `key = value` lines, where more
/// `partition.times` at the end and another `input.until` are no difference. Empty: none.
std::string DifferingSettings(std::string_view now, std::string_view before);

}  // namespace coden
