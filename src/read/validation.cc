// The readers' own checks (columns, vectors, input schemas), run with a listener that
// lets them go on. Ids are numbered in one map for log, features and updates, so that
// labels can be looked up in it at the end.

#include "coden/read/validation.h"

#include <algorithm>
#include <iterator>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api.h>

#include "coden/base/error.h"
#include "read/validation_internal.h"

namespace coden {

namespace {

struct InputCheck {
  const char* name;
  const std::string& path;
  std::string_view rule_if_unset;  // empty where the input may be left out
  arrow::Status (*check)(const ParquetSource&, CheckedInputs&, ProblemList&);
};

arrow::Status RunCheck(const InputCheck& input, CheckedInputs& inputs,
                       ProblemList& list) {
  if (input.path.empty()) {
    if (input.rule_if_unset.empty()) return arrow::Status::OK();
    return list.on_breach()({{}, -1, std::string(input.rule_if_unset), {}});
  }
  ARROW_ASSIGN_OR_RAISE(const auto source, ParquetSource::Open(input.path));
  return input.check(*source, inputs, list);
}

}  // namespace

arrow::Status JudgeMatch(const IdMatch& match, std::string_view name,
                         const CheckedInputs& inputs, ProblemList& list) {
  const std::string& column = inputs.settings.input.node;
  LogNodes log;
  for (NodeId node = 0; node < std::min<NodeId>(inputs.num_log_nodes, 2); ++node)
    log.Add(node, *inputs.nodes);
  log.count = inputs.num_log_nodes;
  if (const auto refusal = match.Refusal(log))
    return list.on_breach()({column, -1, *refusal, {}});
  const auto warning = match.Warning(name);
  list.Remark(column, warning.value_or("rows name no node of the edge log"),
              match.unmatched(), /*first_row=*/-1);
  return arrow::Status::OK();
}

arrow::Status EncodeUsable(const std::shared_ptr<arrow::Array>& ids,
                           const std::vector<bool>& broken, NodeIdMap& nodes,
                           std::vector<NodeId>* out) {
  if (std::find(broken.begin(), broken.end(), true) == broken.end()) {
    return nodes.Encode(*ids, out);
  }
  arrow::BooleanBuilder mask;
  for (const bool row : broken) ARROW_RETURN_NOT_OK(mask.Append(!row));
  ARROW_ASSIGN_OR_RAISE(const auto usable, mask.Finish());
  ARROW_ASSIGN_OR_RAISE(const auto kept, arrow::compute::Filter(ids, usable));
  std::vector<NodeId> encoded;
  ARROW_RETURN_NOT_OK(nodes.Encode(*kept.make_array(), &encoded));
  out->assign(broken.size(), kNoNode);
  std::size_t next = 0;
  for (std::size_t row = 0; row < broken.size(); ++row) {
    if (!broken[row]) (*out)[row] = encoded[next++];
  }
  return arrow::Status::OK();
}

void ScanColumns::Add(const InputColumn& column) {
  if (!column.usable()) return;
  if (std::find(names_.begin(), names_.end(), column.name) != names_.end()) return;
  names_.push_back(column.name);
}

std::shared_ptr<arrow::Array> ScanColumns::Get(const arrow::RecordBatch& batch,
                                               const InputColumn& column) const {
  const auto found = std::find(names_.begin(), names_.end(), column.name);
  if (!column.usable() || found == names_.end()) return nullptr;
  return batch.column(static_cast<int>(std::distance(names_.begin(), found)));
}

arrow::Result<std::vector<InputProblem>> ValidateInputs(const Settings& settings,
                                                        const RunContext& context) {
  const InputOptions& input = settings.input;
  const std::string none;
  const InputCheck checks[] = {
      {"edges", input.edges, kNoEdgeLog, ValidateEdgeLog},
      {"features", input.features,
       input.random_features > 0 ? std::string_view() : kNoFeatures, ValidateFeatures},
      {"feature_updates", input.feature_updates, {}, ValidateUpdates},
      {"labels", input.labels, {}, ValidateLabels},
      {"split",
       settings.train.split_by == SplitKind::kFile ? input.split : none,
       {},
       ValidateSplit},
  };
  CheckedInputs inputs{settings, context};
  std::vector<InputProblem> problems;
  for (const InputCheck& check : checks) {
    ProblemList list(check.name, check.path);
    ARROW_RETURN_NOT_OK(list.Absorb(RunCheck(check, inputs, list)));
    auto found = list.Take();
    std::move(found.begin(), found.end(), std::back_inserter(problems));
  }
  return problems;
}

}  // namespace coden
