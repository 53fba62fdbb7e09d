#include "coden/read/input_agreement.h"

#include "read/input_schemas_internal.h"

namespace coden {

arrow::Status CheckInputsAgree(const InputOptions& input, EventMode events) {
  if (input.edges.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto log, ParquetSource::Open(input.edges));
  ARROW_ASSIGN_OR_RAISE(const auto log_columns,
                        CheckEdgeLogSchema(*log, input, events, Refuse(input.edges)));
  if (!input.labels.empty()) {
    const OnBreach refuse = Refuse(input.labels);
    ARROW_ASSIGN_OR_RAISE(const auto labels, ParquetSource::Open(input.labels));
    ARROW_ASSIGN_OR_RAISE(const auto columns, CheckLabelSchema(*labels, input, refuse));
    ARROW_RETURN_NOT_OK(CheckIdKind(columns.node, *log_columns.src.id_type, refuse));
    if (columns.time.usable()) {
      ARROW_RETURN_NOT_OK(CheckTimeUnit(columns.time, *log_columns.time.type, refuse));
    }
  }
  if (!input.feature_updates.empty()) {
    const OnBreach refuse = Refuse(input.feature_updates);
    ARROW_ASSIGN_OR_RAISE(const auto updates, ParquetSource::Open(input.feature_updates));
    ARROW_ASSIGN_OR_RAISE(const auto columns,
                          CheckFeatureSchema(*updates, input, FeatureFile::kUpdates,
                                             log_columns.src.id_type, refuse));
    ARROW_RETURN_NOT_OK(CheckTimeUnit(columns.time, *log_columns.time.type, refuse));
  }
  return arrow::Status::OK();
}

}  // namespace coden
