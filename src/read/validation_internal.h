// The checks of the single inputs, in the order they run: each adds to what is known of
// the nodes, which the later ones look up.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "coden/base/progress.h"
#include "coden/graph/node_id_map.h"
#include "coden/read/id_match.h"
#include "coden/read/parquet_source.h"
#include "coden/settings/settings.h"
#include "read/input_schemas_internal.h"
#include "read/problem_list_internal.h"
#include "read/vectors_internal.h"

namespace coden {

/// What the inputs checked so far have told.
struct CheckedInputs {
  const Settings& settings;
  const RunContext& context;
  /// Of the log, the features and the updates; null while no id column was usable.
  std::unique_ptr<NodeIdMap> nodes = nullptr;
  std::shared_ptr<arrow::DataType> log_time = nullptr;  ///< type of the log's times
  NodeId num_log_nodes = 0;
  bool log_is_known = false;        ///< every usable id of the log is in `nodes`
  bool features_are_known = false;  ///< likewise
  VectorWidth width = {};
};

arrow::Status ValidateEdgeLog(const ParquetSource& source, CheckedInputs& inputs,
                              ProblemList& list);
arrow::Status ValidateFeatures(const ParquetSource& source, CheckedInputs& inputs,
                               ProblemList& list);
arrow::Status ValidateUpdates(const ParquetSource& source, CheckedInputs& inputs,
                              ProblemList& list);
arrow::Status ValidateLabels(const ParquetSource& source, CheckedInputs& inputs,
                             ProblemList& list);
arrow::Status ValidateSplit(const ParquetSource& source, CheckedInputs& inputs,
                            ProblemList& list);

/// Tell of an input whose ids are not those of the log. Only where these are known.
arrow::Status JudgeMatch(const IdMatch& match, std::string_view name,
                         const CheckedInputs& inputs, ProblemList& list);

/// Number the ids of the rows that are not broken; the others become kNoNode.
arrow::Status EncodeUsable(const std::shared_ptr<arrow::Array>& ids,
                           const std::vector<bool>& broken, NodeIdMap& nodes,
                           std::vector<NodeId>* out);

/// The columns of a scan in the order they were asked for.
class ScanColumns {
 public:
  /// Two roles may share one column of the file.
  void Add(const InputColumn& column);
  const std::vector<std::string>& names() const { return names_; }

  /// The array of `column` in `batch`; null where it is not scanned.
  std::shared_ptr<arrow::Array> Get(const arrow::RecordBatch& batch,
                                    const InputColumn& column) const;

 private:
  std::vector<std::string> names_;
};

}  // namespace coden
