// The readers' own checks (columns, vectors, input schemas), run with a listener that
// lets them go on. Ids are numbered in one map for log, features and updates, so that
// labels can be looked up in it at the end.

#include "coden/read/validation.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api.h>

#include "coden/graph/event_graph.h"
#include "coden/graph/node_id_map.h"
#include "coden/pipeline/error.h"
#include "coden/read/labels.h"
#include "read/columns_internal.h"
#include "read/input_schemas_internal.h"
#include "read/problem_list_internal.h"
#include "read/vectors_internal.h"

namespace coden {

namespace {

constexpr char kUnknownLabel[] =
    "labels of nodes that are in neither the log nor the features are left out";
constexpr char kNoFeatureRow[] = "nodes of the log without a feature row are given zeros";

class NoObserver : public ArcObserver {
 public:
  void BeforeChange(const DynamicGraph&, NodeId) override {}
  void AfterChange(const DynamicGraph&, NodeId) override {}
};

// Number the ids of the rows that are not broken; the others become kNoNode.
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

// The columns of a scan in the order they were asked for.
class ScanColumns {
 public:
  void Add(const InputColumn& column) {
    if (column.usable()) names_.push_back(column.name);
  }
  const std::vector<std::string>& names() const { return names_; }

  // The array of `column` in `batch`; null where it is not scanned. Two roles may share
  // one column of the file.
  std::shared_ptr<arrow::Array> Get(const arrow::RecordBatch& batch,
                                    const InputColumn& column) const {
    const auto found = std::find(names_.begin(), names_.end(), column.name);
    if (!column.usable() || found == names_.end()) return nullptr;
    return batch.column(static_cast<int>(std::distance(names_.begin(), found)));
  }

 private:
  std::vector<std::string> names_;
};

class Validator {
 public:
  Validator(const Settings& settings, const RunContext& context)
      : settings_(settings), input_(settings.input), context_(context) {}

  arrow::Result<std::vector<InputProblem>> Run() {
    ARROW_RETURN_NOT_OK(Check("edges", input_.edges, &Validator::CheckEdges));
    ARROW_RETURN_NOT_OK(Check("features", input_.features, &Validator::CheckFeatures));
    ARROW_RETURN_NOT_OK(
        Check("feature_updates", input_.feature_updates, &Validator::CheckUpdates));
    ARROW_RETURN_NOT_OK(Check("labels", input_.labels, &Validator::CheckLabels));
    return std::move(problems_);
  }

 private:
  using CheckSource = arrow::Status (Validator::*)(const ParquetSource&, ProblemList&);

  arrow::Status Check(const std::string& name, const std::string& path,
                      CheckSource check) {
    ProblemList list(name, path);
    if (path.empty()) {
      if (name == "edges") {
        ARROW_RETURN_NOT_OK(list.on_breach()({{}, -1, std::string(kNoEdgeLog), {}}));
      }
      if (name == "features" && input_.random_features == 0) {
        ARROW_RETURN_NOT_OK(list.on_breach()({{}, -1, std::string(kNoFeatures), {}}));
      }
    } else {
      auto source = ParquetSource::Open(path);
      ARROW_RETURN_NOT_OK(
          list.Absorb(source.ok() ? (this->*check)(**source, list) : source.status()));
    }
    auto found = list.Take();
    std::move(found.begin(), found.end(), std::back_inserter(problems_));
    return arrow::Status::OK();
  }

  // The map for ids of `id_type`: the shared one, or one of its own for a file whose ids
  // are of another kind.
  arrow::Result<NodeIdMap*> MapFor(const std::shared_ptr<arrow::DataType>& id_type,
                                   std::unique_ptr<NodeIdMap>* own) {
    if (nodes_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(nodes_, NodeIdMap::Make(id_type));
    }
    if (nodes_->id_type()->Equals(*id_type)) return nodes_.get();
    ARROW_ASSIGN_OR_RAISE(*own, NodeIdMap::Make(id_type));
    return own->get();
  }

  std::shared_ptr<arrow::DataType> KnownIdType() const {
    return nodes_ == nullptr ? nullptr : nodes_->id_type();
  }

  arrow::Status CheckEdges(const ParquetSource& source, ProblemList& list) {
    const GraphOptions& graph = settings_.graph;
    ARROW_ASSIGN_OR_RAISE(
        const auto columns,
        CheckEdgeLogSchema(source, input_, graph.events, list.on_breach()));
    ScanColumns scan;
    for (const auto& column : {columns.src, columns.dst, columns.time, columns.op}) {
      scan.Add(column);
    }
    const bool has_ends = columns.src.usable() && columns.dst.usable();
    if (has_ends) {
      ARROW_ASSIGN_OR_RAISE(nodes_, NodeIdMap::Make(columns.src.id_type));
    }
    const bool replays =
        has_ends && columns.time.usable() && columns.op.usable() && !graph.lenient;
    EventGraph replay(graph);
    NoObserver observer;
    RisingTimes order;
    std::vector<NodeId> src_nodes, dst_nodes;
    const auto visit = [&](const arrow::RecordBatch& batch,
                           std::int64_t first_row) -> arrow::Status {
      const auto place = [&](const InputColumn& column) {
        return ColumnPlace{column.name, first_row, list.on_breach()};
      };
      auto src = scan.Get(batch, columns.src);
      if (src != nullptr) {
        ARROW_ASSIGN_OR_RAISE(src, ReadIds(src, columns.src.id_type, place(columns.src)));
      }
      auto dst = scan.Get(batch, columns.dst);
      if (dst != nullptr) {
        ARROW_ASSIGN_OR_RAISE(dst, ReadIds(dst, columns.dst.id_type, place(columns.dst)));
      }
      if (has_ends) {
        ARROW_RETURN_NOT_OK(EncodeUsable(src, list.broken(), *nodes_, &src_nodes));
        ARROW_RETURN_NOT_OK(EncodeUsable(dst, list.broken(), *nodes_, &dst_nodes));
      }
      std::shared_ptr<arrow::Int64Array> times;
      if (const auto array = scan.Get(batch, columns.time)) {
        ARROW_ASSIGN_OR_RAISE(times, ReadTimes(array, place(columns.time)));
        ARROW_RETURN_NOT_OK(order.Check(*times, place(columns.time)));
      }
      std::vector<bool> inserts;
      if (const auto array = scan.Get(batch, columns.op)) {
        ARROW_ASSIGN_OR_RAISE(inserts, ReadOps(array, place(columns.op)));
      }
      if (!replays || replay_ended_) return arrow::Status::OK();
      // Rows before a broken one are still replayed; deletions found below break rows
      // as well, so the flags of the other rules are set aside.
      const std::vector<bool> broken = list.broken();
      for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
        if (broken[row]) {
          replay_ended_ = true;
          break;
        }
        const arrow::Status applied =
            replay.Apply({src_nodes[row], dst_nodes[row], times->Value(row),
                          inserts[row] ? EventKind::kInsert : EventKind::kDelete},
                         observer);
        if (!applied.ok()) {
          ARROW_RETURN_NOT_OK(place(columns.op).Report(row, applied.message()));
        }
      }
      return arrow::Status::OK();
    };
    ARROW_RETURN_NOT_OK(list.ForEachBatch(source, scan.names(), input_.batch_rows,
                                          columns.num_rows, context_, visit));
    log_is_known_ = has_ends;
    num_log_nodes_ = has_ends ? nodes_->size() : 0;
    return arrow::Status::OK();
  }

  arrow::Status CheckFeatures(const ParquetSource& source, ProblemList& list) {
    OneRowPerNode once;
    const auto check_nodes = [&](const std::vector<NodeId>& rows, const NodeIdMap& nodes,
                                 const ColumnPlace& place) {
      return once.Check(rows, nodes, place);
    };
    ARROW_ASSIGN_OR_RAISE(
        features_are_known_,
        CheckVectorFile(source, FeatureFile::kFeatures, &width_, check_nodes, list));
    width_.of_features = width_.width >= 0;
    if (!features_are_known_ || !log_is_known_) return arrow::Status::OK();
    std::int64_t without = 0;
    for (NodeId node = 0; node < num_log_nodes_; ++node) without += !once.Has(node);
    list.Remark(input_.node, kNoFeatureRow, without, /*first_row=*/-1);
    return arrow::Status::OK();
  }

  arrow::Status CheckUpdates(const ParquetSource& source, ProblemList& list) {
    if (input_.random_features > 0) width_ = {input_.random_features, true};
    const auto any_node = [](const std::vector<NodeId>&, const NodeIdMap&,
                             const ColumnPlace&) { return arrow::Status::OK(); };
    return CheckVectorFile(source, FeatureFile::kUpdates, &width_, any_node, list)
        .status();
  }

  // Return whether all nodes of the file are in the shared map.
  template <typename CheckNodes>
  arrow::Result<bool> CheckVectorFile(const ParquetSource& source, FeatureFile kind,
                                      VectorWidth* width, const CheckNodes& check_nodes,
                                      ProblemList& list) {
    ARROW_ASSIGN_OR_RAISE(
        const auto columns,
        CheckFeatureSchema(source, input_, kind, KnownIdType(), list.on_breach()));
    ScanColumns scan;
    for (const auto& column : {columns.node, columns.vector, columns.time}) {
      scan.Add(column);
    }
    std::unique_ptr<NodeIdMap> own;
    NodeIdMap* nodes = nullptr;
    if (columns.node.usable()) {
      ARROW_ASSIGN_OR_RAISE(nodes, MapFor(columns.node.id_type, &own));
    }
    RisingTimes order;
    std::vector<NodeId> rows;
    const auto visit = [&](const arrow::RecordBatch& batch,
                           std::int64_t first_row) -> arrow::Status {
      const auto place = [&](const InputColumn& column) {
        return ColumnPlace{column.name, first_row, list.on_breach()};
      };
      if (const auto array = scan.Get(batch, columns.node)) {
        ARROW_ASSIGN_OR_RAISE(const auto ids,
                              ReadIds(array, columns.node.id_type, place(columns.node)));
        ARROW_RETURN_NOT_OK(EncodeUsable(ids, list.broken(), *nodes, &rows));
        ARROW_RETURN_NOT_OK(check_nodes(rows, *nodes, place(columns.node)));
      }
      if (const auto array = scan.Get(batch, columns.vector)) {
        ARROW_RETURN_NOT_OK(ReadVectors(*array, width, place(columns.vector)).status());
      }
      if (const auto array = scan.Get(batch, columns.time)) {
        ARROW_ASSIGN_OR_RAISE(const auto times, ReadTimes(array, place(columns.time)));
        ARROW_RETURN_NOT_OK(order.Check(*times, place(columns.time)));
      }
      return arrow::Status::OK();
    };
    ARROW_RETURN_NOT_OK(list.ForEachBatch(
        source, scan.names(), std::min<std::int64_t>(input_.batch_rows, kVectorBatchRows),
        columns.num_rows, context_, visit));
    return nodes != nullptr && own == nullptr;
  }

  arrow::Status CheckLabels(const ParquetSource& source, ProblemList& list) {
    ARROW_ASSIGN_OR_RAISE(const auto columns,
                          CheckLabelSchema(source, input_, list.on_breach()));
    if (columns.node.usable() && nodes_ != nullptr) {
      ARROW_RETURN_NOT_OK(
          CheckIdKind(columns.node, *nodes_->id_type(), list.on_breach()));
    }
    ScanColumns scan;
    for (const auto& column : {columns.node, columns.label, columns.time}) {
      scan.Add(column);
    }
    std::unique_ptr<NodeIdMap> labelled;
    if (columns.node.usable()) {
      ARROW_ASSIGN_OR_RAISE(labelled, NodeIdMap::Make(columns.node.id_type));
    }
    // A label is unknown only where every node of the log and the features is known.
    const bool looks_up = labelled != nullptr && log_is_known_ &&
                          (input_.features.empty() || features_are_known_) &&
                          nodes_->id_type()->Equals(*columns.node.id_type);
    OneLabelPerTime once;
    std::int64_t unknown = 0;
    std::int64_t first_unknown = -1;
    std::vector<NodeId> rows, found;
    const auto visit = [&](const arrow::RecordBatch& batch,
                           std::int64_t first_row) -> arrow::Status {
      const auto place = [&](const InputColumn& column) {
        return ColumnPlace{column.name, first_row, list.on_breach()};
      };
      std::shared_ptr<arrow::Array> ids;
      if (const auto array = scan.Get(batch, columns.node)) {
        ARROW_ASSIGN_OR_RAISE(ids,
                              ReadIds(array, columns.node.id_type, place(columns.node)));
        ARROW_RETURN_NOT_OK(EncodeUsable(ids, list.broken(), *labelled, &rows));
      }
      if (const auto array = scan.Get(batch, columns.label)) {
        ARROW_RETURN_NOT_OK(
            ReadIds(array, columns.label.id_type, place(columns.label)).status());
      }
      std::shared_ptr<arrow::Int64Array> times;
      if (const auto array = scan.Get(batch, columns.time)) {
        ARROW_ASSIGN_OR_RAISE(times, ReadTimes(array, place(columns.time)));
      }
      if (ids == nullptr) return arrow::Status::OK();
      if (looks_up) ARROW_RETURN_NOT_OK(nodes_->Find(*ids, &found));
      for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
        if (list.broken()[row]) continue;
        const EventTime time = times == nullptr ? Labels::kAlways : times->Value(row);
        ARROW_RETURN_NOT_OK(
            once.Check(rows[row], time, row, *labelled, place(columns.node)));
        if (!looks_up || found[row] != kNoNode) continue;
        if (unknown++ == 0) first_unknown = first_row + row;
      }
      return arrow::Status::OK();
    };
    ARROW_RETURN_NOT_OK(list.ForEachBatch(source, scan.names(), input_.batch_rows,
                                          columns.num_rows, context_, visit));
    list.Remark(input_.node, kUnknownLabel, unknown, first_unknown);
    return arrow::Status::OK();
  }

  const Settings& settings_;
  const InputOptions& input_;
  const RunContext& context_;
  std::vector<InputProblem> problems_;
  std::unique_ptr<NodeIdMap> nodes_;  // of the log, the features and the updates
  NodeId num_log_nodes_ = 0;
  bool log_is_known_ = false;  // every id of the log is in `nodes_`
  bool features_are_known_ = false;
  bool replay_ended_ = false;
  VectorWidth width_;
};

}  // namespace

arrow::Result<std::vector<InputProblem>> ValidateInputs(const Settings& settings,
                                                        const RunContext& context) {
  return Validator(settings, context).Run();
}

}  // namespace coden
