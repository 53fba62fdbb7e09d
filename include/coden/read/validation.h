#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/settings/settings.h"

namespace coden {

/// One rule that an input breaks, however often it does.
struct InputProblem {
  std::string input;            ///< edges, features, feature_updates or labels
  std::string path;             ///< as the settings give it, without credentials
  std::string column;           ///< empty where the whole input is meant
  std::string rule;             ///< what is wrong, the way out, and the first value found
  std::int64_t count = 0;       ///< rows that break it; 1 where it is not about rows
  std::int64_t first_row = -1;  ///< from 0 over the whole input; -1: not about rows
  bool fatal = true;            ///< false: a run goes on and counts it
};

/// Check every input of `settings` against its schema and return all problems: by input,
/// then by first row, with what is not fatal at the end. A file that is missing or
/// damaged is a problem too, and does not keep the others from being checked.
///
/// Streams: memory grows with the number of distinct nodes, with the labels where they
/// have times, and for signed events with the edges, because deletions are replayed. The
/// replay ends at the first row that breaks another rule: what follows depends on it.
///
/// Texts may hold bytes of the inputs as they are; pass them through Printable. An error
/// is an interrupt or a lack of memory, never the content of an input.
arrow::Result<std::vector<InputProblem>> ValidateInputs(const Settings& settings,
                                                        const RunContext& context);

}  // namespace coden
