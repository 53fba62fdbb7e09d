#include "train/labelled_nodes_internal.h"

#include <utility>

#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"

namespace coden {

namespace {

arrow::Status FindLabels(const Labels& labels, const arrow::Array& ids,
                         std::vector<NodeId>* out) {
  const arrow::DataType& label_type = *labels.nodes->id_type();
  if (!ids.type()->Equals(label_type)) {
    return InputError("the labels and the edge log must name nodes by one type: the ",
                      "labels have ", label_type.ToString(), ", the log ",
                      ids.type()->ToString());
  }
  return labels.nodes->Find(ids, out);
}

arrow::Status FillFirstEvents(const RunStore& store, LabelledNodes* nodes) {
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, RunLayout::kNodes));
  ARROW_ASSIGN_OR_RAISE(const auto batch, table->CombineChunksToBatch());
  const auto ids = batch->GetColumnByName("node");
  const auto column = batch->GetColumnByName("first_event");
  if (ids == nullptr || column == nullptr || column->type_id() != arrow::Type::INT64) {
    return CorruptionError("'", store.Show(RunLayout::kNodes),
                           "' must have the columns node and first_event (int64)");
  }
  const auto& first_event = static_cast<const arrow::Int64Array&>(*column);
  std::vector<NodeId> found;
  ARROW_RETURN_NOT_OK(nodes->Find(*ids, &found));
  nodes->first_events.assign(nodes->known.size(), kNeverSeen);
  for (std::size_t row = 0; row < found.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row);
    if (found[row] != kNoNode && first_event.IsValid(at))
      nodes->first_events[found[row]] = first_event.Value(at);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status LabelledNodes::Find(const arrow::Array& node_ids,
                                  std::vector<NodeId>* out) const {
  ARROW_RETURN_NOT_OK(FindLabels(labels, node_ids, out));
  for (NodeId& node : *out) {
    if (node != kNoNode) node = places[node];
  }
  return arrow::Status::OK();
}

arrow::Result<LabelledNodes> FindLabelledNodes(Labels labels, const RunStore& store,
                                               const arrow::Array& in_snapshot) {
  LabelledNodes nodes;
  nodes.labels = std::move(labels);
  std::vector<NodeId> found;
  ARROW_RETURN_NOT_OK(FindLabels(nodes.labels, in_snapshot, &found));
  const NodeId num_labelled = nodes.labels.nodes->size();
  nodes.places.assign(static_cast<std::size_t>(num_labelled), kNoNode);
  for (const NodeId node : found) {
    if (node != kNoNode) nodes.places[node] = 0;
  }
  nodes.known.reserve(found.size());
  for (NodeId node = 0; node < num_labelled; ++node) {
    if (nodes.places[node] == kNoNode) continue;
    nodes.places[node] = static_cast<NodeId>(nodes.known.size());
    nodes.known.push_back(node);
  }
  if (nodes.known.empty()) {
    return InputError(
        "no labelled node is in the snapshots: check that `input.labels` "
        "and `input.edges` name the same nodes: ",
        num_labelled, " labels");
  }
  ARROW_ASSIGN_OR_RAISE(nodes.ids, nodes.labels.nodes->Take(nodes.known));
  nodes.facts.reserve(nodes.labels.entries.size());
  for (const LabelEntry& entry : nodes.labels.entries) {
    const NodeId place = nodes.places[entry.node];
    if (place != kNoNode) nodes.facts.push_back({place, entry.label, entry.time});
  }
  ARROW_RETURN_NOT_OK(FillFirstEvents(store, &nodes));
  return nodes;
}

}  // namespace coden
