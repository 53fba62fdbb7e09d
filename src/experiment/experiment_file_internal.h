#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "experiment/suites_internal.h"

namespace coden {

/// Every measurement of a suite as rows of ExperimentSchema().
arrow::Result<std::shared_ptr<arrow::RecordBatch>> ExperimentBatch(
    std::string_view suite, std::span<const MeasuredTrial> trials);

}  // namespace coden
