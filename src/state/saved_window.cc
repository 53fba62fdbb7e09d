#include "coden/state/saved_window.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "coden/store/parquet_file.h"
#include "state/damaged_internal.h"

namespace coden {

namespace {

std::shared_ptr<arrow::Schema> WindowSchema() {
  return arrow::schema({
      arrow::field("source", arrow::int32(), false),
      arrow::field("target", arrow::int32(), false),
      arrow::field("time", arrow::int64(), false),
  });
}

}  // namespace

// Their numbers are not written: only the order counts, and how many insertions there
// were depends on where the run was resumed.
arrow::Result<FileRecord> StageWindow(RunStore& store, std::string_view name,
                                      const std::deque<PendingExpiry>& pending) {
  arrow::Int32Builder src, dst;
  arrow::Int64Builder time;
  for (const PendingExpiry& insertion : pending) {
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

arrow::Result<std::vector<PendingExpiry>> LoadWindow(const RunStore& store,
                                                     std::string_view name, bool directed,
                                                     NodeId num_nodes) {
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, name));
  if (!table->schema()->Equals(*WindowSchema(), /*check_metadata=*/false))
    return Damaged(store, name);
  ARROW_ASSIGN_OR_RAISE(const auto batch, table->CombineChunksToBatch());
  const auto& src = static_cast<const arrow::Int32Array&>(*batch->column(0));
  const auto& dst = static_cast<const arrow::Int32Array&>(*batch->column(1));
  const auto& time = static_cast<const arrow::Int64Array&>(*batch->column(2));
  std::vector<PendingExpiry> pending;
  EventTime last_time = 0;
  for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
    const PendingExpiry insertion{src.Value(row), dst.Value(row), time.Value(row),
                                  /*number=*/row + 1};
    // The numbers lead into memory, an edge has one name, and insertions expire in order.
    if (std::min(insertion.src, insertion.dst) < 0 ||
        std::max(insertion.src, insertion.dst) >= num_nodes ||
        (!directed && insertion.src > insertion.dst) || insertion.time < last_time) {
      return Damaged(store, name);
    }
    last_time = insertion.time;
    pending.push_back(insertion);
  }
  return pending;
}

}  // namespace coden
