#include "pipeline/id_checks_internal.h"

#include <algorithm>

#include <arrow/compute/api.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/read/id_match.h"
#include "coden/read/labels.h"
#include "coden/sample/lazy_sampler.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "read/rules_internal.h"

namespace coden {

namespace {

arrow::Status JudgeMatch(const IdMatch& match, const LogNodes& log, std::string_view name,
                         const std::string& path, const std::string& column,
                         std::vector<std::string>* notes) {
  if (const auto refusal = match.Refusal(log))
    return Refuse(path)({column, -1, *refusal, {}});
  if (const auto warning = match.Warning(name)) notes->push_back(*warning);
  return arrow::Status::OK();
}

// Refuses inputs whose ids are not those of the log, and says so of those that mostly are
// not.
class IdChecks {
 public:
  IdChecks(const Settings& settings, const RunInputs& inputs,
           const std::vector<SampledNode>& sampled)
      : settings_(settings),
        inputs_(inputs),
        in_log_(static_cast<std::size_t>(inputs.nodes->size()), false) {
    for (std::size_t node = 0; node < std::min(in_log_.size(), sampled.size()); ++node) {
      in_log_[node] = sampled[node].arrival >= 0;
      if (in_log_[node]) log_.Add(static_cast<NodeId>(node), *inputs.nodes);
    }
  }

  arrow::Status Run(InputCounts* counts, std::vector<std::string>* notes) const {
    const InputOptions& input = settings_.input;
    if (!input.features.empty()) {
      IdMatch match;
      for (const NodeId node : inputs_.features.row_nodes())
        match.Add(node, /*num_rows=*/1, in_log_[node], *inputs_.nodes);
      ARROW_RETURN_NOT_OK(Judge(match, "features", input.features, notes));
      counts->feature_rows = match.rows;
      counts->feature_rows_unmatched = match.unmatched();
    }
    if (!input.feature_updates.empty()) {
      IdMatch match;
      const std::vector<std::int64_t>& rows = inputs_.features.update_rows();
      for (NodeId node = 0; node < static_cast<NodeId>(rows.size()); ++node)
        match.Add(node, rows[node], in_log_[node], *inputs_.nodes);
      ARROW_RETURN_NOT_OK(Judge(match, "feature updates", input.feature_updates, notes));
      counts->update_rows = match.rows;
      counts->update_rows_unmatched = match.unmatched();
    }
    // Training counts labels; here they are refused before the long work.
    if (input.labels.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const Labels labels, ReadLabels(input));
    ARROW_RETURN_NOT_OK(JudgeLabels(labels, "labels", input.labels));
    if (settings_.train.split_by != SplitKind::kFile) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const Labels split, ReadSplitRows(input));
    return JudgeLabels(split, "split", input.split);
  }

 private:
  arrow::Status Judge(const IdMatch& match, std::string_view name,
                      const std::string& path, std::vector<std::string>* notes) const {
    return JudgeMatch(match, log_, name, path, settings_.input.node, notes);
  }

  arrow::Status JudgeLabels(const Labels& labels, std::string_view name,
                            const std::string& path) const {
    std::vector<bool> in_log(static_cast<std::size_t>(labels.nodes->size()), false);
    // Ids of another kind are in no log.
    if (labels.nodes->id_type()->Equals(*inputs_.nodes->id_type())) {
      ARROW_ASSIGN_OR_RAISE(const auto ids, labels.nodes->Ids(0, labels.nodes->size()));
      std::vector<NodeId> found;
      ARROW_RETURN_NOT_OK(inputs_.nodes->Find(*ids, &found));
      for (std::size_t i = 0; i < found.size(); ++i)
        in_log[i] = found[i] != kNoNode && in_log_[found[i]];
    }
    std::vector<std::string> later;
    return Judge(MatchLabels(labels, in_log), name, path, &later);
  }

  const Settings& settings_;
  const RunInputs& inputs_;
  std::vector<bool> in_log_;
  LogNodes log_;
};

// The nodes of a committed run that have an event.
arrow::Result<std::shared_ptr<arrow::Array>> LoadLogIds(const RunStore& store) {
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, RunLayout::kNodes));
  ARROW_ASSIGN_OR_RAISE(const auto batch, table->CombineChunksToBatch());
  const auto ids = batch->GetColumnByName("node");
  const auto first_event = batch->GetColumnByName("first_event");
  if (ids == nullptr || first_event == nullptr) {
    return CorruptionError("'", store.Show(RunLayout::kNodes),
                           "' must have the columns node and first_event");
  }
  ARROW_ASSIGN_OR_RAISE(const auto has_event, arrow::compute::IsValid(first_event));
  ARROW_ASSIGN_OR_RAISE(const auto in_log, arrow::compute::Filter(ids, has_event));
  return in_log.make_array();
}

// Match the rows of one file of labels with the ids of the log.
arrow::Result<IdMatch> MatchWithLog(const Labels& labels, const arrow::Array& log_ids,
                                    LogNodes* log) {
  std::vector<bool> in_log(static_cast<std::size_t>(labels.nodes->size()), false);
  // Ids of another kind are in no log; CheckInputsAgree says so.
  if (labels.nodes->id_type()->Equals(log_ids.type())) {
    std::vector<NodeId> found;
    ARROW_RETURN_NOT_OK(labels.nodes->Find(log_ids, &found));
    for (const NodeId node : found) {
      if (node != kNoNode) in_log[node] = true;
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto few, NodeIdMap::Make(log_ids.type()));
  std::vector<NodeId> first;
  ARROW_RETURN_NOT_OK(few->Encode(*log_ids.Slice(0, 2), &first));
  for (const NodeId node : first) log->Add(node, *few);
  log->count = log_ids.length();
  return MatchLabels(labels, in_log);
}

}  // namespace

arrow::Status CheckIdsOfLog(const Settings& settings, const RunInputs& inputs,
                            const std::vector<SampledNode>& sampled, InputCounts* counts,
                            std::vector<std::string>* notes) {
  return IdChecks(settings, inputs, sampled).Run(counts, notes);
}

arrow::Status CheckIdsOfTraining(const Settings& settings, const RunStore& store,
                                 InputCounts* counts, std::vector<std::string>* notes) {
  const InputOptions& input = settings.input;
  ARROW_ASSIGN_OR_RAISE(const auto log_ids, LoadLogIds(store));
  const auto check = [&](const Labels& labels, std::string_view name,
                         const std::string& path) -> arrow::Result<IdMatch> {
    LogNodes log;
    ARROW_ASSIGN_OR_RAISE(IdMatch match, MatchWithLog(labels, *log_ids, &log));
    ARROW_RETURN_NOT_OK(JudgeMatch(match, log, name, path, input.node, notes));
    return match;
  };
  ARROW_ASSIGN_OR_RAISE(const Labels labels, ReadLabels(input));
  ARROW_ASSIGN_OR_RAISE(const IdMatch labelled, check(labels, "labels", input.labels));
  counts->label_rows = labelled.rows;
  counts->label_rows_unmatched = labelled.unmatched();
  if (settings.train.split_by != SplitKind::kFile) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const Labels rows, ReadSplitRows(input));
  ARROW_ASSIGN_OR_RAISE(const IdMatch split, check(rows, "split", input.split));
  counts->split_rows = split.rows;
  counts->split_rows_unmatched = split.unmatched();
  return arrow::Status::OK();
}

}  // namespace coden
