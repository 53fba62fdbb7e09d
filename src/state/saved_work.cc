#include "coden/state/saved_work.h"

#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "base/table_column_internal.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"

namespace coden {

namespace {

// The columns of whole numbers, by their names.
struct Count {
  const char* name;
  std::int64_t SolveWork::* member;
};
constexpr Count kCounts[] = {{"sweeps", &SolveWork::sweeps},
                             {"proving_sweeps", &SolveWork::proving_sweeps},
                             {"swept_arcs", &SolveWork::swept_arcs},
                             {"pushes", &SolveWork::pushes},
                             {"pushed_arcs", &SolveWork::pushed_arcs}};

}  // namespace

std::shared_ptr<arrow::Schema> WorkSchema() {
  std::vector<std::shared_ptr<arrow::Field>> fields = {
      arrow::field("snapshot", arrow::int32(), /*nullable=*/false),
      arrow::field("seconds", arrow::float64(), /*nullable=*/false)};
  for (const Count& count : kCounts)
    fields.push_back(arrow::field(count.name, arrow::int64(), /*nullable=*/false));
  return arrow::schema(std::move(fields));
}

arrow::Result<FileRecord> StageWork(RunStore& store, const std::vector<SolveWork>& work) {
  arrow::Int32Builder snapshots;
  arrow::DoubleBuilder seconds;
  for (std::size_t i = 0; i < work.size(); ++i) {
    ARROW_RETURN_NOT_OK(snapshots.Append(static_cast<std::int32_t>(i)));
    ARROW_RETURN_NOT_OK(seconds.Append(work[i].seconds));
  }
  std::vector<std::shared_ptr<arrow::Array>> columns(2);
  ARROW_ASSIGN_OR_RAISE(columns[0], snapshots.Finish());
  ARROW_ASSIGN_OR_RAISE(columns[1], seconds.Finish());
  for (const Count& count : kCounts) {
    arrow::Int64Builder values;
    for (const SolveWork& one : work)
      ARROW_RETURN_NOT_OK(values.Append(one.*count.member));
    ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), values.Finish());
  }
  return StageParquetFile(
      store, RunLayout::kWork,
      *arrow::RecordBatch::Make(WorkSchema(), static_cast<std::int64_t>(work.size()),
                                std::move(columns)));
}

arrow::Result<std::vector<SolveWork>> LoadWork(const RunStore& store,
                                               const FileRecord* record,
                                               int num_snapshots) {
  std::vector<SolveWork> work(static_cast<std::size_t>(num_snapshots));
  if (record == nullptr) return work;
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, *record));
  const std::string file(RunLayout::kWork);
  ARROW_ASSIGN_OR_RAISE(const auto seconds, RealColumn(*table, file, "seconds"));
  const std::size_t known = std::min(work.size(), seconds.size());
  for (std::size_t i = 0; i < known; ++i) work[i].seconds = seconds[i];
  for (const Count& count : kCounts) {
    ARROW_ASSIGN_OR_RAISE(const auto values, IntegerColumn(*table, file, count.name));
    for (std::size_t i = 0; i < known; ++i) work[i].*count.member = values[i];
  }
  return work;
}

}  // namespace coden
