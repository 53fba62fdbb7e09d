#include "coden/read/feature_reader.h"

#include <cmath>

#include <arrow/array.h>
#include <arrow/compute/api.h>
#include <arrow/type.h>

#include "coden/pipeline/error.h"
#include "read/columns_internal.h"

namespace coden {

namespace {

// A batch of vectors is held as numbers, so wide features are read in shorter batches.
constexpr std::int64_t kRowsPerBatch = 16384;

bool IsVectorType(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST:
      return arrow::is_floating(type.field(0)->type()->id()) ||
             arrow::is_integer(type.field(0)->type()->id());
    default:
      return false;
  }
}

// Check that every list has the same length, `*width` or, while that is negative, the
// first one's, and return the numbers of all rows one after another.
template <typename ListArray>
arrow::Result<std::shared_ptr<arrow::Array>> Flatten(const ListArray& lists, int* width,
                                                     const ColumnPlace& place) {
  for (std::int64_t row = 0; row < lists.length(); ++row) {
    const auto length = static_cast<int>(lists.value_length(row));
    if (*width < 0) *width = length;
    if (length != *width) {
      return InputError(place.At(row),
                        ": every vector must have the same length: ", length, " here, ",
                        *width, " before");
    }
  }
  return lists.Flatten();
}

arrow::Result<std::shared_ptr<arrow::Array>> ReadVectors(const arrow::Array& array,
                                                         int* width,
                                                         const ColumnPlace& place) {
  ARROW_RETURN_NOT_OK(CheckNoNulls(array, place));
  std::shared_ptr<arrow::Array> flat;
  switch (array.type_id()) {
    case arrow::Type::LIST: {
      const auto& lists = static_cast<const arrow::ListArray&>(array);
      ARROW_ASSIGN_OR_RAISE(flat, Flatten(lists, width, place));
      break;
    }
    case arrow::Type::LARGE_LIST: {
      const auto& lists = static_cast<const arrow::LargeListArray&>(array);
      ARROW_ASSIGN_OR_RAISE(flat, Flatten(lists, width, place));
      break;
    }
    default: {
      const auto& lists = static_cast<const arrow::FixedSizeListArray&>(array);
      ARROW_ASSIGN_OR_RAISE(flat, Flatten(lists, width, place));
      break;
    }
  }
  if (flat->null_count() > 0) {
    std::int64_t place_of_null = 0;
    while (!flat->IsNull(place_of_null)) ++place_of_null;
    return InputError(place.At(place_of_null / *width),
                      ": a vector must not hold a null");
  }
  arrow::compute::CastOptions options =
      arrow::compute::CastOptions::Unsafe(arrow::float32());
  ARROW_ASSIGN_OR_RAISE(auto numbers,
                        arrow::compute::Cast(*flat, arrow::float32(), options));
  const auto& values = static_cast<const arrow::FloatArray&>(*numbers);
  for (std::int64_t i = 0; i < values.length(); ++i) {
    if (!std::isfinite(values.Value(i))) {
      return InputError(place.At(i / *width),
                        ": a feature must be finite: ", values.Value(i));
    }
  }
  return numbers;
}

}  // namespace

arrow::Result<std::unique_ptr<FeatureReader>> FeatureReader::Open(
    const InputOptions& input, FeatureFile kind,
    const std::shared_ptr<arrow::DataType>& id_type) {
  std::unique_ptr<FeatureReader> reader(new FeatureReader());
  reader->kind_ = kind;
  reader->path_ = kind == FeatureFile::kFeatures ? input.features : input.feature_updates;
  reader->id_type_ = id_type;
  ARROW_ASSIGN_OR_RAISE(reader->source_, ParquetSource::Open(reader->path_));
  const ParquetSource& source = *reader->source_;
  ARROW_ASSIGN_OR_RAISE(const auto node, source.Column(input.node, "input.node"));
  ARROW_ASSIGN_OR_RAISE(const auto vector, source.Column(input.feature, "input.feature"));
  ARROW_ASSIGN_OR_RAISE(const auto node_type, NodeIdMap::IdType(*node->type()));
  if (!node_type->Equals(*id_type)) {
    return InputError("'", reader->path_, "', column '", input.node,
                      "': node ids must be of the kind of the edge log: ",
                      node->type()->ToString(), " here, ", id_type->ToString(), " there");
  }
  if (!IsVectorType(*vector->type())) {
    return InputError(
        "'", reader->path_, "', column '", input.feature,
        "': features must be a list of numbers: ", vector->type()->ToString());
  }
  reader->columns_ = {input.node, input.feature};
  if (kind == FeatureFile::kUpdates) {
    ARROW_ASSIGN_OR_RAISE(const auto time, source.Column(input.time, "input.time"));
    if (!IsTimeType(*time->type())) {
      return InputError(
          "'", reader->path_, "', column '", input.time,
          "': a time must be a whole number or a timestamp: ", time->type()->ToString());
    }
    reader->columns_.push_back(input.time);
  }
  ARROW_ASSIGN_OR_RAISE(
      reader->reader_,
      source.Scan(reader->columns_,
                  std::min<std::int64_t>(input.batch_rows, kRowsPerBatch)));
  return reader;
}

arrow::Result<std::optional<FeatureRows>> FeatureReader::Next(NodeIdMap& nodes) {
  std::shared_ptr<arrow::RecordBatch> batch;
  ARROW_RETURN_NOT_OK(reader_->ReadNext(&batch));
  if (batch == nullptr) return std::nullopt;
  const auto place = [this](int column) {
    return ColumnPlace{path_, columns_[column], rows_};
  };
  FeatureRows rows;
  ARROW_ASSIGN_OR_RAISE(const auto ids, ReadIds(batch->column(0), id_type_, place(0)));
  ARROW_ASSIGN_OR_RAISE(const auto vectors,
                        ReadVectors(*batch->column(1), &width_, place(1)));
  ARROW_RETURN_NOT_OK(nodes.Encode(*ids, &rows.nodes));
  const auto& values = static_cast<const arrow::FloatArray&>(*vectors);
  rows.values.assign(values.raw_values(), values.raw_values() + values.length());
  if (batch->num_rows() > 0 && width_ == 0) {
    return InputError(place(1).At(0), ": a vector must not be empty");
  }
  rows.width = std::max(width_, 0);
  if (kind_ == FeatureFile::kUpdates) {
    ARROW_ASSIGN_OR_RAISE(const auto times, ReadTimes(batch->column(2), place(2)));
    rows.times.assign(times->raw_values(), times->raw_values() + times->length());
  }
  ARROW_RETURN_NOT_OK(CheckRows(rows, nodes));
  rows_ += batch->num_rows();
  return rows;
}

arrow::Status FeatureReader::CheckRows(const FeatureRows& rows, const NodeIdMap& nodes) {
  seen_.resize(nodes.size());
  for (std::int64_t row = 0; row < rows.size(); ++row) {
    if (kind_ == FeatureFile::kFeatures) {
      const NodeId node = rows.nodes[row];
      if (seen_[node]) {
        return InputError(ColumnPlace{path_, columns_[0], rows_}.At(row), ": node ",
                          nodes.Show(node), " has a row already; keep one per node");
      }
      seen_[node] = true;
    } else {
      if (rows.times[row] < last_time_) {
        return InputError(ColumnPlace{path_, columns_[2], rows_}.At(row),
                          ": times must not fall; sort the updates by time: ",
                          rows.times[row], " after ", last_time_);
      }
      last_time_ = rows.times[row];
    }
  }
  return arrow::Status::OK();
}

}  // namespace coden
