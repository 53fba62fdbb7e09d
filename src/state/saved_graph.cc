#include "coden/state/saved_graph.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "coden/store/parquet_file.h"
#include "state/damaged_internal.h"

namespace coden {

namespace {

// Neighbours in one batch; bounds the memory of writing.
constexpr std::int64_t kBatchNeighbours = 1 << 20;

std::shared_ptr<arrow::Schema> GraphSchema() {
  return arrow::schema({
      arrow::field("neighbours",
                   arrow::list(arrow::field("element", arrow::int32(), false)), false),
      arrow::field("present", arrow::boolean(), false),
  });
}

std::shared_ptr<arrow::Schema> WindowSchema() {
  return arrow::schema({
      arrow::field("src", arrow::int32(), false),
      arrow::field("dst", arrow::int32(), false),
      arrow::field("time", arrow::int64(), false),
  });
}

// Insertions in their order. Their numbers are not written: only the order counts, and
// how many there were depends on where the run was resumed.
arrow::Result<FileRecord> StageWindow(RunStore& store, const std::string& name,
                                      const EventGraph& graph) {
  arrow::Int32Builder src, dst;
  arrow::Int64Builder time;
  for (const PendingExpiry& insertion : graph.pending_expiries()) {
    ARROW_RETURN_NOT_OK(src.Append(insertion.src));
    ARROW_RETURN_NOT_OK(dst.Append(insertion.dst));
    ARROW_RETURN_NOT_OK(time.Append(insertion.time));
  }
  const std::int64_t rows = time.length();
  arrow::ArrayVector columns;
  for (arrow::ArrayBuilder* builder :
       std::initializer_list<arrow::ArrayBuilder*>{&src, &dst, &time}) {
    ARROW_ASSIGN_OR_RAISE(auto column, builder->Finish());
    columns.push_back(std::move(column));
  }
  return StageParquetFile(store, name,
                          *arrow::RecordBatch::Make(WindowSchema(), rows, columns));
}

// Whether an edge has the one name that it is written under.
bool IsNamed(const GraphOptions& options, NodeId src, NodeId dst) {
  return options.directed || src <= dst;
}

// Call `edge(src, dst)` for every edge, `present(node)` for every node that is there, and
// `expiry` for every pending expiry. An edge under two names would be put back twice, and
// so be gone; insertions expire in their order.
template <typename Edge, typename Present, typename Expiry>
arrow::Status ReadGraph(const RunStore& store, const GraphFiles& files,
                        const GraphOptions& options, NodeId num_nodes, const Edge& edge,
                        const Present& present, const Expiry& expiry) {
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, files.graph));
  if (!table->schema()->Equals(*GraphSchema(), /*check_metadata=*/false) ||
      table->num_rows() > num_nodes) {
    return Damaged(store, files.graph);
  }
  NodeId node = 0;
  arrow::TableBatchReader batches(*table);
  std::shared_ptr<arrow::RecordBatch> batch;
  while (true) {
    ARROW_RETURN_NOT_OK(batches.ReadNext(&batch));
    if (batch == nullptr) break;
    const auto& lists = static_cast<const arrow::ListArray&>(*batch->column(0));
    const auto& ends = static_cast<const arrow::Int32Array&>(*lists.values());
    const auto& there = static_cast<const arrow::BooleanArray&>(*batch->column(1));
    for (std::int64_t row = 0; row < batch->num_rows(); ++row, ++node) {
      if (there.Value(row)) present(node);
      NodeId last = kNoNode;
      for (auto i = lists.value_offset(row); i < lists.value_offset(row + 1); ++i) {
        const NodeId end = ends.Value(i);
        if (end <= last || end >= num_nodes || !IsNamed(options, node, end))
          return Damaged(store, files.graph);
        edge(node, last = end);
      }
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto window_size, store.Size(files.window));
  if (!window_size) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto window, ReadParquetFile(store, files.window));
  if (!window->schema()->Equals(*WindowSchema(), /*check_metadata=*/false))
    return Damaged(store, files.window);
  ARROW_ASSIGN_OR_RAISE(batch, window->CombineChunksToBatch());
  const auto& src = static_cast<const arrow::Int32Array&>(*batch->column(0));
  const auto& dst = static_cast<const arrow::Int32Array&>(*batch->column(1));
  const auto& time = static_cast<const arrow::Int64Array&>(*batch->column(2));
  EventTime last_time = 0;
  for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
    const PendingExpiry insertion{src.Value(row), dst.Value(row), time.Value(row),
                                  /*number=*/row + 1};
    if (std::min(insertion.src, insertion.dst) < 0 ||
        std::max(insertion.src, insertion.dst) >= num_nodes ||
        !IsNamed(options, insertion.src, insertion.dst) || insertion.time < last_time) {
      return Damaged(store, files.window);
    }
    last_time = insertion.time;
    expiry(insertion);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::vector<FileRecord>> StageGraph(RunStore& store,
                                                  const GraphFiles& files,
                                                  const EventGraph& events,
                                                  const std::vector<bool>& present) {
  const DynamicGraph& graph = events.graph();
  const bool directed = events.options().directed;
  // Sorted neighbours hardly need compression beside their encoding, and it takes longer.
  ParquetFileOptions options;
  options.compression = SnapshotCompression::kNone;
  ARROW_ASSIGN_OR_RAISE(
      auto writer, ParquetFileWriter::Stage(store, files.graph, GraphSchema(), options));
  auto ends = std::make_shared<arrow::Int32Builder>();
  arrow::ListBuilder lists(arrow::default_memory_pool(), ends,
                           GraphSchema()->field(0)->type());
  arrow::BooleanBuilder there;
  const auto flush = [&]() -> arrow::Status {
    const std::int64_t rows = there.length();
    ARROW_ASSIGN_OR_RAISE(auto neighbours, lists.Finish());
    ARROW_ASSIGN_OR_RAISE(auto presence, there.Finish());
    return writer->Write(
        *arrow::RecordBatch::Make(GraphSchema(), rows, {neighbours, presence}));
  };
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    std::span<const NodeId> neighbours = graph.out_neighbours(node);
    if (!directed) {
      const auto own = std::lower_bound(neighbours.begin(), neighbours.end(), node);
      neighbours = neighbours.subspan(own - neighbours.begin());
    }
    ARROW_RETURN_NOT_OK(lists.Append());
    ARROW_RETURN_NOT_OK(ends->AppendValues(neighbours.data(),
                                           static_cast<std::int64_t>(neighbours.size())));
    ARROW_RETURN_NOT_OK(there.Append(!present.empty() && present[node]));
    if (ends->length() >= kBatchNeighbours) ARROW_RETURN_NOT_OK(flush());
  }
  ARROW_RETURN_NOT_OK(flush());
  std::vector<FileRecord> staged;
  ARROW_ASSIGN_OR_RAISE(staged.emplace_back(), writer->Close());
  if (events.options().window > 0) {
    ARROW_ASSIGN_OR_RAISE(staged.emplace_back(),
                          StageWindow(store, files.window, events));
  }
  return staged;
}

arrow::Status LoadGraph(const RunStore& store, const GraphFiles& files, NodeId num_nodes,
                        EventGraph& graph) {
  return ReadGraph(
      store, files, graph.options(), num_nodes,
      [&](NodeId src, NodeId dst) { graph.RestoreEdge(src, dst); }, [](NodeId) {},
      [&](const PendingExpiry& insertion) { graph.RestoreExpiry(insertion); });
}

arrow::Result<std::vector<FileRecord>> StageGraph(RunStore& store,
                                                  const Embedder& embedder) {
  return StageGraph(store, {}, embedder.graph(), embedder.present());
}

arrow::Status LoadGraph(const RunStore& store, Embedder& embedder) {
  return ReadGraph(
      store, {}, embedder.graph().options(), embedder.engine().num_nodes(),
      [&](NodeId src, NodeId dst) { embedder.graph().RestoreEdge(src, dst); },
      [&](NodeId node) { embedder.SetPresent(node); },
      [&](const PendingExpiry& insertion) { embedder.graph().RestoreExpiry(insertion); });
}

arrow::Status LoadGraph(const RunStore& store, NodeId num_nodes, ShiftedGraph& graph) {
  graph.Grow(num_nodes);
  return ReadGraph(
      store, {}, graph.options(), num_nodes,
      [&](NodeId src, NodeId dst) { graph.RestoreEdge(src, dst); }, [](NodeId) {},
      [&](const PendingExpiry& insertion) { graph.RestoreExpiry(insertion); });
}

}  // namespace coden
