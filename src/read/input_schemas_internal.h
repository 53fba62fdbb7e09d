// The schemas that inputs must have (schemas/*.csv): which columns, of which types.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/read/feature_reader.h"
#include "coden/read/parquet_source.h"
#include "coden/settings/graph_options.h"
#include "coden/settings/input_options.h"
#include "read/rules_internal.h"

namespace coden {

inline constexpr std::string_view kNoEdgeLog = "there is no edge log: set `input.edges`";
inline constexpr std::string_view kNoFeatures =
    "there are no features: set `input.features`, or `input.random_features` to draw "
    "some";

/// Whether a column of `type` can be a time: integers, decimals, timestamps and dates
/// can.
bool IsTimeType(const arrow::DataType& type);

/// A column of an input; without a name where it is missing or of a wrong type and the
/// caller went on.
struct InputColumn {
  std::string name;
  std::shared_ptr<arrow::DataType> id_type;  ///< of ids and classes: int64 or utf8
  std::shared_ptr<arrow::DataType> type;     ///< as it stands in the file

  bool usable() const { return !name.empty(); }
};

struct EdgeLogColumns {
  InputColumn src, dst, time;
  InputColumn op;  ///< for signed events only
  std::int64_t num_rows = 0;
};
arrow::Result<EdgeLogColumns> CheckEdgeLogSchema(const ParquetSource& source,
                                                 const InputOptions& input,
                                                 EventMode events,
                                                 const OnBreach& on_breach);

struct FeatureColumns {
  InputColumn node, vector;
  InputColumn time;  ///< for updates only
  std::int64_t num_rows = 0;
};
/// `id_type` is that of the edge log; null where it is not known.
arrow::Result<FeatureColumns> CheckFeatureSchema(
    const ParquetSource& source, const InputOptions& input, FeatureFile kind,
    const std::shared_ptr<arrow::DataType>& id_type, const OnBreach& on_breach);

struct LabelColumns {
  InputColumn node, label;
  InputColumn time;  ///< where the file has one
  std::int64_t num_rows = 0;
};
arrow::Result<LabelColumns> CheckLabelSchema(const ParquetSource& source,
                                             const InputOptions& input,
                                             const OnBreach& on_breach);

/// Rule: node ids are of the kind that the edge log has.
arrow::Status CheckIdKind(const InputColumn& node, const arrow::DataType& id_type,
                          const OnBreach& on_breach);

/// Rule: times are in the unit that the edge log has. Numbers of another unit would look
/// like an earlier or later time, and let a run see the future.
arrow::Status CheckTimeUnit(const InputColumn& time, const arrow::DataType& log_time,
                            const OnBreach& on_breach);

}  // namespace coden
