#include "snapshot/snapshot_layout_internal.h"

#include <algorithm>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/type.h>

#include "coden/snapshot/snapshot_writer.h"
#include "snapshot/half_precision_internal.h"

namespace coden {

namespace {

// Rows that are transposed together: few enough to stay in the first cache.
constexpr std::int64_t kTileRows = 64;

// Cut a row-by-row matrix into one array per column.
template <typename ArrayType>
arrow::Result<arrow::ArrayVector> Transpose(const ArrayType& values, std::int64_t rows) {
  using Number = typename ArrayType::value_type;
  const std::int64_t width = rows == 0 ? 0 : values.length() / rows;
  arrow::ArrayVector columns;
  std::vector<Number*> starts;
  for (std::int64_t column = 0; column < width; ++column) {
    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<arrow::Buffer> numbers,
        arrow::AllocateBuffer(rows * static_cast<std::int64_t>(sizeof(Number))));
    starts.push_back(reinterpret_cast<Number*>(numbers->mutable_data()));
    columns.push_back(std::make_shared<ArrayType>(rows, std::move(numbers)));
  }
  const Number* const matrix = values.raw_values();
  for (std::int64_t first = 0; first < rows; first += kTileRows) {
    const std::int64_t last = std::min(first + kTileRows, rows);
    for (std::int64_t column = 0; column < width; ++column) {
      for (std::int64_t row = first; row < last; ++row) {
        starts[column][row] = matrix[row * width + column];
      }
    }
  }
  return columns;
}

std::shared_ptr<arrow::Array> Lists(const std::shared_ptr<arrow::DataType>& type,
                                    std::int64_t rows,
                                    const std::shared_ptr<arrow::Array>& values) {
  const std::int64_t width = rows == 0 ? 0 : values->length() / rows;
  std::vector<std::int32_t> offsets(rows + 1);
  for (std::int64_t row = 0; row <= rows; ++row)
    offsets[row] = static_cast<std::int32_t>(row * width);
  return std::make_shared<arrow::ListArray>(
      type, rows, arrow::Buffer::FromVector(std::move(offsets)), values);
}

}  // namespace

std::shared_ptr<arrow::Schema> SnapshotSchema(
    const std::shared_ptr<arrow::DataType>& id_type, SnapshotLayout layout, int width,
    SnapshotPrecision precision) {
  const auto number =
      precision == SnapshotPrecision::kFloat16 ? arrow::float16() : arrow::float32();
  const auto element = arrow::field("element", number, /*nullable=*/false);
  arrow::FieldVector fields = {arrow::field("node", id_type, /*nullable=*/false)};
  switch (layout) {
    case SnapshotLayout::kList:
      fields.push_back(
          arrow::field("embedding", arrow::list(element), /*nullable=*/false));
      break;
    case SnapshotLayout::kFixed:
      fields.push_back(arrow::field("embedding", arrow::fixed_size_list(element, width),
                                    /*nullable=*/false));
      break;
    case SnapshotLayout::kColumns:
      for (int column = 0; column < width; ++column) {
        fields.push_back(
            arrow::field("e" + std::to_string(column), number, /*nullable=*/false));
      }
      break;
  }
  return arrow::schema(fields);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ArrangeRows(
    const SnapshotOptions& options, const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::Array>& ids,
    const std::shared_ptr<arrow::FloatArray>& numbers) {
  const std::int64_t rows = ids->length();
  std::shared_ptr<arrow::Array> values = numbers;
  const bool half = options.precision == SnapshotPrecision::kFloat16;
  if (half) {
    ARROW_ASSIGN_OR_RAISE(values, AsHalf(*numbers));
  }
  arrow::ArrayVector columns = {ids};
  switch (options.layout) {
    case SnapshotLayout::kList:
      columns.push_back(Lists(schema->field(1)->type(), rows, values));
      break;
    case SnapshotLayout::kFixed:
      columns.push_back(std::make_shared<arrow::FixedSizeListArray>(
          schema->field(1)->type(), rows, values));
      break;
    case SnapshotLayout::kColumns: {
      if (rows == 0) return arrow::RecordBatch::MakeEmpty(schema);
      ARROW_ASSIGN_OR_RAISE(
          const auto parts,
          half ? Transpose(static_cast<const arrow::HalfFloatArray&>(*values), rows)
               : Transpose(*numbers, rows));
      columns.insert(columns.end(), parts.begin(), parts.end());
      break;
    }
  }
  return arrow::RecordBatch::Make(schema, rows, columns);
}

}  // namespace coden
