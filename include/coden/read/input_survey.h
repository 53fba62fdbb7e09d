#pragma once

#include <set>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/settings/settings.h"

namespace coden {

/// Something about an input, for the comment of a setting.
struct SurveyRemark {
  std::string key;     ///< the setting that it is about
  std::string text;    ///< one or two sentences
  bool doubt = false;  ///< what could not be told, or what will stop a run
};

/// The settings that the inputs of a new pipeline ask for.
struct InputSurvey {
  Settings settings;
  std::set<std::string> unknown;  ///< settings that must be set before a run
  std::vector<SurveyRemark> remarks;
};

/// Choose the columns of the inputs that `given` names, and whether the log is signed:
/// by the names and types of columns, and by reading the columns with the time and the
/// operation. What is in `fixed`, keys of settings, stays as it is.
///
/// Says also what a run would refuse: a log that is not sorted by time, ids of two kinds,
/// times of two units. Whether the values of the other columns are allowed is for
/// ValidateInputs. An error is an input that cannot be read.
arrow::Result<InputSurvey> SurveyInputs(const Settings& given,
                                        const std::set<std::string>& fixed,
                                        const RunContext& context);

}  // namespace coden
