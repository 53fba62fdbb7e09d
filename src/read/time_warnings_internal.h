// Times and spans of time in the settings that do not fit the log: legal, but hardly what
// was meant.
#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/read/parquet_source.h"
#include "coden/settings/settings.h"
#include "read/input_schemas_internal.h"

namespace coden {

/// Name the settings whose times lie outside the log and those whose spans are longer
/// than it, with the log's first and last time and its unit, and say where a value looks
/// as if it were in another unit. Reads footers where such a setting is given.
arrow::Result<std::vector<std::string>> TimeWarnings(const Settings& settings,
                                                     const ParquetSource& source,
                                                     const InputColumn& time);

/// The same for `train.label_windows`, which only a training reads: the embedding may be
/// long done.
arrow::Result<std::vector<std::string>> LabelWindowWarnings(const Settings& settings,
                                                            const ParquetSource& source,
                                                            const InputColumn& time);

}  // namespace coden
