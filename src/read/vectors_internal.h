#pragma once

#include <memory>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "read/rules_internal.h"

namespace coden {

/// Vectors are held as numbers, so wide ones are read in shorter batches than events.
inline constexpr std::int64_t kVectorBatchRows = 16384;

/// Whether a column of `type` can hold feature vectors: lists of numbers can.
bool IsVectorType(const arrow::DataType& type);

/// Rule: all vectors have one length.
struct VectorWidth {
  int width = -1;            ///< -1 until the first vector is seen
  bool of_features = false;  ///< `width` is that of another file, the features
};

/// Read vectors of IsVectorType as rows x width numbers, one row after another. Rules: no
/// nulls, one length that is not 0, finite numbers. Each row has at most one breach; with
/// any, what is returned is of no use.
arrow::Result<std::shared_ptr<arrow::FloatArray>> ReadVectors(const arrow::Array& array,
                                                              VectorWidth* width,
                                                              const ColumnPlace& place);

}  // namespace coden
