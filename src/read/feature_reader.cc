#include "coden/read/feature_reader.h"

#include <algorithm>

#include <arrow/array.h>

#include "read/columns_internal.h"
#include "read/input_schemas_internal.h"
#include "read/vectors_internal.h"

namespace coden {

// What is remembered between batches to check the rules that span rows.
struct FeatureReader::Checks {
  OnBreach refuse;
  VectorWidth width;
  RisingTimes order;
  OneRowPerNode once;
};

FeatureReader::FeatureReader() : checks_(std::make_unique<Checks>()) {}

FeatureReader::~FeatureReader() = default;

arrow::Result<std::unique_ptr<FeatureReader>> FeatureReader::Open(
    const InputOptions& input, FeatureFile kind,
    const std::shared_ptr<arrow::DataType>& id_type, int width) {
  std::unique_ptr<FeatureReader> reader(new FeatureReader());
  const std::string& path =
      kind == FeatureFile::kFeatures ? input.features : input.feature_updates;
  reader->kind_ = kind;
  reader->id_type_ = id_type;
  reader->checks_->refuse = Refuse(path);
  reader->checks_->width = {width, /*of_features=*/width >= 0};
  ARROW_ASSIGN_OR_RAISE(reader->source_, ParquetSource::Open(path));
  ARROW_ASSIGN_OR_RAISE(const auto columns,
                        CheckFeatureSchema(*reader->source_, input, kind, id_type,
                                           reader->checks_->refuse));
  reader->columns_ = {columns.node.name, columns.vector.name};
  if (columns.time.usable()) reader->columns_.push_back(columns.time.name);
  ARROW_ASSIGN_OR_RAISE(
      reader->reader_,
      reader->source_->Scan(reader->columns_,
                            std::min<std::int64_t>(input.batch_rows, kVectorBatchRows)));
  return reader;
}

arrow::Result<std::optional<FeatureRows>> FeatureReader::Next(NodeIdMap& nodes) {
  std::shared_ptr<arrow::RecordBatch> batch;
  ARROW_RETURN_NOT_OK(reader_->ReadNext(&batch));
  if (batch == nullptr) return std::nullopt;
  const auto place = [this](int column) {
    return ColumnPlace{columns_[column], rows_, checks_->refuse};
  };
  FeatureRows rows;
  ARROW_ASSIGN_OR_RAISE(const auto ids, ReadIds(batch->column(0), id_type_, place(0)));
  ARROW_ASSIGN_OR_RAISE(const auto vectors,
                        ReadVectors(*batch->column(1), &checks_->width, place(1)));
  ARROW_RETURN_NOT_OK(nodes.Encode(*ids, &rows.nodes));
  rows.values.assign(vectors->raw_values(), vectors->raw_values() + vectors->length());
  rows.width = std::max(checks_->width.width, 0);
  if (kind_ == FeatureFile::kUpdates) {
    ARROW_ASSIGN_OR_RAISE(const auto times, ReadTimes(batch->column(2), place(2)));
    ARROW_RETURN_NOT_OK(checks_->order.Check(*times, place(2)));
    rows.times.assign(times->raw_values(), times->raw_values() + times->length());
  } else {
    ARROW_RETURN_NOT_OK(checks_->once.Check(rows.nodes, nodes, place(0)));
  }
  rows_ += batch->num_rows();
  return rows;
}

}  // namespace coden
