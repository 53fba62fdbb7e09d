#include "coden/snapshot/snapshot_writer.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

#include "coden/store/run_layout.h"

namespace coden {

namespace {

constexpr char kFormatVersion[] = "1";

std::shared_ptr<arrow::Field> ElementField() {
  return arrow::field("element", arrow::float32(), /*nullable=*/false);
}

// Rows that are transposed together: few enough to stay in the first cache.
constexpr std::int64_t kTileRows = 64;

// Cut a row-by-row matrix into one array per column.
arrow::Result<std::vector<std::shared_ptr<arrow::Array>>> Transpose(
    const arrow::FloatArray& values, std::int64_t rows, int width) {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  std::vector<float*> starts;
  for (int column = 0; column < width; ++column) {
    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<arrow::Buffer> numbers,
        arrow::AllocateBuffer(rows * static_cast<std::int64_t>(sizeof(float))));
    starts.push_back(reinterpret_cast<float*>(numbers->mutable_data()));
    columns.push_back(std::make_shared<arrow::FloatArray>(rows, std::move(numbers)));
  }
  const float* const matrix = values.raw_values();
  for (std::int64_t first = 0; first < rows; first += kTileRows) {
    const std::int64_t last = std::min(first + kTileRows, rows);
    for (int column = 0; column < width; ++column) {
      for (std::int64_t row = first; row < last; ++row) {
        starts[column][row] = matrix[row * width + column];
      }
    }
  }
  return columns;
}

}  // namespace

std::shared_ptr<arrow::Schema> SnapshotSchema(
    const std::shared_ptr<arrow::DataType>& id_type, SnapshotLayout layout, int width) {
  arrow::FieldVector fields = {arrow::field("node", id_type, /*nullable=*/false)};
  switch (layout) {
    case SnapshotLayout::kList:
      fields.push_back(
          arrow::field("embedding", arrow::list(ElementField()), /*nullable=*/false));
      break;
    case SnapshotLayout::kFixed:
      fields.push_back(arrow::field("embedding",
                                    arrow::fixed_size_list(ElementField(), width),
                                    /*nullable=*/false));
      break;
    case SnapshotLayout::kColumns:
      for (int column = 0; column < width; ++column) {
        fields.push_back(arrow::field("e" + std::to_string(column), arrow::float32(),
                                      /*nullable=*/false));
      }
      break;
  }
  return arrow::schema(fields);
}

SnapshotWriter::SnapshotWriter(const SnapshotOptions& options, RunStore& store,
                               const Schedule& schedule, int width,
                               SnapshotProvenance provenance, int num_done,
                               OnFile on_file)
    : options_(options),
      store_(store),
      schedule_(schedule),
      width_(width),
      provenance_(std::move(provenance)),
      on_file_(std::move(on_file)),
      open_snapshot_(num_done - 1) {}

arrow::Result<SchemaPtr> SnapshotWriter::Bind(const SchemaPtr& input) {
  file_schema_ =
      SnapshotSchema(input->GetFieldByName("node")->type(), options_.layout, width_);
  return input;
}

arrow::Status SnapshotWriter::OpenFile(int snapshot) {
  ParquetFileOptions options;
  options.compression = options_.compression;
  options.metadata = arrow::key_value_metadata({
      {"coden.format_version", kFormatVersion},
      {"coden.run_id", provenance_.run_id},
      {"coden.parameters", provenance_.parameters},
      {"coden.input_fingerprint", provenance_.input_fingerprint},
      {"coden.snapshot_time", std::to_string(schedule_[snapshot].time)},
      {"coden.dim", std::to_string(width_)},
  });
  ARROW_ASSIGN_OR_RAISE(
      file_, ParquetFileWriter::Stage(store_, RunLayout::Snapshot(snapshot), file_schema_,
                                      options));
  open_snapshot_ = snapshot;
  return arrow::Status::OK();
}

arrow::Status SnapshotWriter::CloseFile() {
  if (file_ == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(FileRecord record, file_->Close());
  file_.reset();
  return on_file_(open_snapshot_, std::move(record));
}

arrow::Status SnapshotWriter::MoveTo(int snapshot) {
  if (snapshot < open_snapshot_) {
    return arrow::Status::Invalid("snapshots must come in order: ", snapshot, " after ",
                                  open_snapshot_);
  }
  while (open_snapshot_ < snapshot) {
    ARROW_RETURN_NOT_OK(CloseFile());
    ARROW_RETURN_NOT_OK(OpenFile(open_snapshot_ + 1));
  }
  return arrow::Status::OK();
}

arrow::Status SnapshotWriter::Push(BatchPtr batch, const Emit&) {
  const auto& numbers = static_cast<const arrow::Int32Array&>(*batch->column(0));
  for (std::int64_t begin = 0; begin < batch->num_rows();) {
    const int snapshot = numbers.Value(begin);
    std::int64_t end = begin + 1;
    while (end < batch->num_rows() && numbers.Value(end) == snapshot) ++end;
    ARROW_RETURN_NOT_OK(MoveTo(snapshot));
    ARROW_ASSIGN_OR_RAISE(const auto rows, Arrange(*batch->Slice(begin, end - begin)));
    ARROW_RETURN_NOT_OK(file_->Write(*rows));
    begin = end;
  }
  return arrow::Status::OK();
}

arrow::Status SnapshotWriter::Finish(const Emit&) {
  ARROW_RETURN_NOT_OK(MoveTo(static_cast<int>(schedule_.size()) - 1));
  return CloseFile();
}

arrow::Result<BatchPtr> SnapshotWriter::Arrange(const arrow::RecordBatch& batch) const {
  const std::int64_t rows = batch.num_rows();
  const auto& lists = static_cast<const arrow::ListArray&>(*batch.column(2));
  std::vector<std::shared_ptr<arrow::Array>> columns = {batch.column(1)};
  switch (options_.layout) {
    case SnapshotLayout::kList:
      columns.push_back(batch.column(2));
      break;
    case SnapshotLayout::kFixed: {
      ARROW_ASSIGN_OR_RAISE(const auto values, lists.Flatten());
      columns.push_back(std::make_shared<arrow::FixedSizeListArray>(
          file_schema_->field(1)->type(), rows, values));
      break;
    }
    case SnapshotLayout::kColumns: {
      ARROW_ASSIGN_OR_RAISE(const auto values, lists.Flatten());
      ARROW_ASSIGN_OR_RAISE(
          const auto parts,
          Transpose(static_cast<const arrow::FloatArray&>(*values), rows, width_));
      columns.insert(columns.end(), parts.begin(), parts.end());
      break;
    }
  }
  return arrow::RecordBatch::Make(file_schema_, rows, columns);
}

}  // namespace coden
