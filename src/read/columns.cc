#include <arrow/array.h>
#include <arrow/compute/api.h>
#include <arrow/type.h>

#include "coden/pipeline/error.h"
#include "read/columns_internal.h"

namespace coden {

namespace {

arrow::Result<std::shared_ptr<arrow::Array>> CastTo(
    const std::shared_ptr<arrow::Array>& array,
    const std::shared_ptr<arrow::DataType>& type, const ColumnPlace& place) {
  if (array->type()->Equals(*type)) return array;
  auto cast = arrow::compute::Cast(*array, type);
  if (!cast.ok()) {
    return InputError(place.At(0), " ff.: cannot read ", array->type()->ToString(),
                      " as ", type->ToString(), ": ", cast.status().message());
  }
  return cast;
}

}  // namespace

std::string ColumnPlace::At(std::int64_t row) const {
  return "'" + std::string(path) + "', column '" + std::string(column) + "', row " +
         std::to_string(first_row + row);
}

arrow::Status CheckNoNulls(const arrow::Array& array, const ColumnPlace& place) {
  if (array.null_count() == 0) return arrow::Status::OK();
  std::int64_t row = 0;
  while (!array.IsNull(row)) ++row;
  return InputError(place.At(row),
                    ": a null is not allowed here; fill or remove the row");
}

arrow::Result<std::shared_ptr<arrow::Array>> ReadIds(
    const std::shared_ptr<arrow::Array>& array,
    const std::shared_ptr<arrow::DataType>& id_type, const ColumnPlace& place) {
  ARROW_RETURN_NOT_OK(CheckNoNulls(*array, place));
  return CastTo(array, id_type, place);
}

bool IsTimeType(const arrow::DataType& type) {
  return arrow::is_integer(type.id()) || type.id() == arrow::Type::TIMESTAMP ||
         type.id() == arrow::Type::DATE32 || type.id() == arrow::Type::DATE64;
}

arrow::Result<std::shared_ptr<arrow::Int64Array>> ReadTimes(
    const std::shared_ptr<arrow::Array>& array, const ColumnPlace& place) {
  ARROW_RETURN_NOT_OK(CheckNoNulls(*array, place));
  std::shared_ptr<arrow::Array> whole = array;
  if (array->type_id() == arrow::Type::DATE32) {
    ARROW_ASSIGN_OR_RAISE(whole, CastTo(array, arrow::int32(), place));
  }
  ARROW_ASSIGN_OR_RAISE(whole, CastTo(whole, arrow::int64(), place));
  auto times = std::static_pointer_cast<arrow::Int64Array>(whole);
  for (std::int64_t row = 0; row < times->length(); ++row) {
    if (times->Value(row) < 0) {
      return InputError(place.At(row),
                        ": a time must not be negative: ", times->Value(row));
    }
  }
  return times;
}

}  // namespace coden
