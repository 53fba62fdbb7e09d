#include "coden/state/saved_columns.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "state/damaged_internal.h"

namespace coden {

namespace {

// Rows of a row group, which are held twice while they are written.
constexpr std::int64_t kRowGroupRows = 1 << 15;
// Columns that are held in memory while they are read.
constexpr int kColumnsAtOnce = 16;

std::string NameOf(int column) { return "c" + std::to_string(column); }

template <typename Array, typename Number>
std::shared_ptr<arrow::Array> ToArray(const std::vector<double>& numbers) {
  return std::make_shared<Array>(
      static_cast<std::int64_t>(numbers.size()),
      arrow::Buffer::FromVector(std::vector<Number>(numbers.begin(), numbers.end())));
}

// Give the numbers of one saved column to the engine, chunk by chunk.
arrow::Status RestoreColumn(const arrow::ChunkedArray& saved, bool in_double, int column,
                            EmbeddingEngine& engine) {
  std::int64_t row = 0;
  for (const auto& chunk : saved.chunks()) {
    std::vector<double> numbers(chunk->length());
    const auto copy = [&](const auto& array) {
      std::copy_n(array.raw_values(), array.length(), numbers.begin());
    };
    in_double ? copy(static_cast<const arrow::DoubleArray&>(*chunk))
              : copy(static_cast<const arrow::FloatArray&>(*chunk));
    engine.RestoreNumbers(column, row, numbers);
    row += chunk->length();
  }
  return arrow::Status::OK();
}

// The nodes of the rows: those of `graph` that have an arc, and others that had one.
arrow::Result<std::vector<NodeId>> LoadConnected(const RunStore& store,
                                                 const std::string& name,
                                                 NodeId num_nodes,
                                                 const SnapshotGraph& graph) {
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, name, {"node"}));
  ARROW_ASSIGN_OR_RAISE(const auto batch, table->CombineChunksToBatch());
  if (batch->column(0)->type_id() != arrow::Type::INT32) return Damaged(store, name);
  const auto& nodes = static_cast<const arrow::Int32Array&>(*batch->column(0));
  std::vector<NodeId> connected(nodes.raw_values(), nodes.raw_values() + nodes.length());
  std::vector<bool> found(num_nodes, false);
  for (const NodeId node : connected) {
    if (node < 0 || node >= num_nodes || found[node]) return Damaged(store, name);
    found[node] = true;
  }
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    const auto neighbours = graph.out_neighbours(node);
    const bool known = neighbours.empty() || found[node];
    if (!known || !std::all_of(neighbours.begin(), neighbours.end(),
                               [&](NodeId neighbour) { return found[neighbour]; })) {
      return Damaged(store, name);
    }
  }
  return connected;
}

}  // namespace

arrow::Result<FileRecord> StageColumns(RunStore& store, const ColumnFile& file,
                                       const EmbeddingEngine& engine) {
  const ColumnRange& columns = file.columns;
  const std::vector<NodeId> connected = engine.ConnectedNodes();
  const std::vector<bool> in_double = engine.Memory().in_double;
  arrow::FieldVector fields = {arrow::field("node", arrow::int32(), false)};
  for (int column = 0; column < columns.size(); ++column) {
    fields.push_back(arrow::field(NameOf(columns.begin + column),
                                  in_double[column] ? arrow::float64() : arrow::float32(),
                                  false));
  }
  const auto schema = arrow::schema(fields);
  ParquetFileOptions options;
  options.row_group_rows = kRowGroupRows;
  ARROW_ASSIGN_OR_RAISE(auto writer,
                        ParquetFileWriter::Stage(store, file.name, schema, options));
  const auto num_rows = static_cast<std::int64_t>(connected.size());
  for (std::int64_t first = 0; first < num_rows; first += kRowGroupRows) {
    const std::int64_t rows = std::min(kRowGroupRows, num_rows - first);
    arrow::ArrayVector arrays = {std::make_shared<arrow::Int32Array>(
        rows, arrow::Buffer::FromVector(std::vector<NodeId>(
                  connected.begin() + first, connected.begin() + first + rows)))};
    std::vector<double> numbers(rows);
    for (int column = 0; column < columns.size(); ++column) {
      engine.CopyNumbers(column, first, numbers);
      arrays.push_back(in_double[column] ? ToArray<arrow::DoubleArray, double>(numbers)
                                         : ToArray<arrow::FloatArray, float>(numbers));
    }
    ARROW_RETURN_NOT_OK(writer->Write(*arrow::RecordBatch::Make(schema, rows, arrays)));
  }
  return writer->Close();
}

arrow::Status LoadColumns(const RunStore& store, std::span<const ColumnFile> files,
                          const EngineMemory& memory, const ColumnRange& columns,
                          const SnapshotGraph& graph, EmbeddingEngine& engine) {
  bool restored = false;
  std::int64_t num_rows = 0;
  for (const ColumnFile& file : files) {
    if (!restored) {
      ARROW_ASSIGN_OR_RAISE(const auto connected,
                            LoadConnected(store, file.name, engine.num_nodes(), graph));
      engine.Restore(graph, connected, memory);
      num_rows = static_cast<std::int64_t>(connected.size());
      restored = true;
    }
    const int end = std::min(file.columns.end, columns.end);
    for (int first = std::max(file.columns.begin, columns.begin); first < end;
         first += kColumnsAtOnce) {
      const int last = std::min(end, first + kColumnsAtOnce);
      std::vector<std::string> names;
      for (int column = first; column < last; ++column) names.push_back(NameOf(column));
      ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, file.name, names));
      for (int column = first; column < last; ++column) {
        const auto saved = table->GetColumnByName(NameOf(column));
        const bool in_double = memory.in_double[column - columns.begin];
        if (!saved->type()->Equals(in_double ? arrow::float64() : arrow::float32()) ||
            saved->length() != num_rows) {
          return Damaged(store, file.name);
        }
        ARROW_RETURN_NOT_OK(
            RestoreColumn(*saved, in_double, column - columns.begin, engine));
      }
    }
  }
  return arrow::Status::OK();
}

arrow::Result<FileRecord> StageColumns(RunStore& store, const Embedder& embedder,
                                       const ColumnRange& columns) {
  return StageColumns(store, {RunLayout::Columns(columns.begin), columns},
                      embedder.engine());
}

arrow::Status LoadColumns(const RunStore& store, const RunProgress& progress,
                          const ColumnRange& columns, Embedder& embedder) {
  const EngineMemory& all = progress.engine;
  std::vector<ColumnFile> files;
  files.reserve(progress.column_files.size());
  int end = columns.end;
  for (const ColumnRange& range : progress.column_files) {
    files.push_back({RunLayout::Columns(range.begin), range});
    end = std::max(end, range.end);
  }
  if (static_cast<int>(all.bounds.size()) < end ||
      all.in_double.size() != all.bounds.size()) {
    return Damaged(store, RunLayout::kProgress);
  }
  EngineMemory memory;
  memory.pushed = all.pushed;
  memory.bounds.assign(all.bounds.begin() + columns.begin,
                       all.bounds.begin() + columns.end);
  memory.in_double.assign(all.in_double.begin() + columns.begin,
                          all.in_double.begin() + columns.end);
  return LoadColumns(store, files, memory, columns, embedder.graph(), embedder.engine());
}

}  // namespace coden
