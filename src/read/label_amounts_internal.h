#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <arrow/type_fwd.h>

namespace coden {

/// What to say of labels that look like amounts: whole numbers with more than fifty
/// different values, and more than one for every fifty rows. Few sets of classes are like
/// that, and a wrong warning does no harm. `type` is that of the classes.
std::optional<std::string> AmountsWarning(const arrow::DataType& type,
                                          std::int64_t num_classes,
                                          std::int64_t num_rows);

}  // namespace coden
