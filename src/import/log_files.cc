#include "import/log_files_internal.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "generate/table_writer_internal.h"

namespace coden::importing {

namespace {

// Rows wait in memory until they fill a row group.
constexpr std::int64_t kRowGroupFloats = 1 << 22;

std::int64_t RowGroupRows(const arrow::Schema& schema) {
  std::int64_t rows = ParquetFileOptions().row_group_rows;
  for (const auto& field : schema.fields()) {
    if (field->type()->id() != arrow::Type::FIXED_SIZE_LIST) continue;
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*field->type());
    rows = std::clamp<std::int64_t>(kRowGroupFloats / list.list_size(), 1, rows);
  }
  return rows;
}

std::shared_ptr<arrow::Field> Renamed(const arrow::Schema& schema,
                                      const std::string& column,
                                      const std::string& name) {
  return schema.GetFieldByName(column)->WithName(name);
}

}  // namespace

arrow::Result<std::unique_ptr<ParquetFileWriter>> LogFiles::OpenFile(
    const std::string& name, const arrow::FieldVector& fields) const {
  arrow::FieldVector typed = fields;
  for (auto& field : typed) {
    if (field->name() == "time" && options_.times == TimeKind::kDate) {
      field = field->WithType(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"));
    }
  }
  const SchemaPtr schema = arrow::schema(std::move(typed));
  return generate::OpenTable(options_.directory, name, schema, options_.metadata,
                             RowGroupRows(*schema));
}

arrow::Result<std::unique_ptr<LogFiles>> LogFiles::Open(const SchemaPtr& rows,
                                                        LogFilesOptions options) {
  std::unique_ptr<LogFiles> files(new LogFiles(std::move(options)));
  const auto id_type = rows->GetFieldByName("src")->type();
  ARROW_ASSIGN_OR_RAISE(files->nodes_, NodeIdMap::Make(id_type));
  if (rows->GetFieldByName("dst") != nullptr) {
    arrow::FieldVector fields;
    for (const std::string column : {"src", "dst", "time", "op"}) {
      if (const auto field = rows->GetFieldByName(column)) {
        files->edge_columns_.push_back(column);
        fields.push_back(field);
      }
    }
    ARROW_ASSIGN_OR_RAISE(files->edges_, files->OpenFile("edges.parquet", fields));
  }
  if (const auto label = rows->GetFieldByName("label")) {
    ARROW_ASSIGN_OR_RAISE(auto log, LabelLog::Make(id_type, label->type()));
    files->label_log_ = std::make_unique<LabelLog>(std::move(log));
    ARROW_ASSIGN_OR_RAISE(
        files->labels_,
        files->OpenFile("labels.parquet", {Renamed(*rows, "src", "node"), label,
                                           rows->GetFieldByName("time")}));
  }
  if (const auto x = rows->GetFieldByName("x")) {
    ARROW_ASSIGN_OR_RAISE(
        files->updates_,
        files->OpenFile("feature_updates.parquet", {Renamed(*rows, "src", "node"),
                                                    rows->GetFieldByName("time"), x}));
  }
  return files;
}

// Times are int64 in memory; in the file they are what the text had.
arrow::Status LogFiles::WriteRows(ParquetFileWriter& writer,
                                  const arrow::RecordBatch& rows,
                                  const std::vector<std::string>& columns) const {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const std::string& column : columns) {
    auto array = rows.GetColumnByName(column);
    if (column == "time" && options_.times == TimeKind::kDate) {
      ARROW_ASSIGN_OR_RAISE(array,
                            array->View(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")));
    }
    fields.push_back(
        arrow::field(column == "src" && &writer != edges_.get() ? "node" : column,
                     array->type(), /*nullable=*/false));
    arrays.push_back(std::move(array));
  }
  return writer.Write(*arrow::RecordBatch::Make(arrow::schema(std::move(fields)),
                                                rows.num_rows(), std::move(arrays)));
}

arrow::Status LogFiles::Write(const arrow::RecordBatch& rows) {
  if (rows.num_rows() == 0) return arrow::Status::OK();
  const auto& times =
      static_cast<const arrow::Int64Array&>(*rows.GetColumnByName("time"));
  if (num_rows_ == 0) first_time_ = times.Value(0);
  last_time_ = times.Value(rows.num_rows() - 1);
  num_rows_ += rows.num_rows();
  std::vector<NodeId> src, dst;
  if (edges_ != nullptr) {
    ARROW_RETURN_NOT_OK(nodes_->EncodeEdges(*rows.GetColumnByName("src"),
                                            *rows.GetColumnByName("dst"), &src, &dst));
    ARROW_RETURN_NOT_OK(WriteRows(*edges_, rows, edge_columns_));
  }
  if (labels_ != nullptr) {
    ARROW_ASSIGN_OR_RAISE(
        const auto labels,
        label_log_->Push(*rows.GetColumnByName("src"), *rows.GetColumnByName("label"),
                         *rows.GetColumnByName("time")));
    ARROW_RETURN_NOT_OK(WriteRows(*labels_, *labels, {"node", "label", "time"}));
  }
  if (updates_ != nullptr) {
    ARROW_RETURN_NOT_OK(WriteRows(*updates_, rows, {"src", "time", "x"}));
  }
  return arrow::Status::OK();
}

arrow::Status LogFiles::Finish() {
  if (labels_ == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto labels, label_log_->Finish());
  ARROW_RETURN_NOT_OK(WriteRows(*labels_, *labels, {"node", "label", "time"}));
  ARROW_ASSIGN_OR_RAISE(const bool all_zero, label_log_->AllZero());
  if (all_zero && options_.zero_labels_say_nothing) labels_.reset();
  return arrow::Status::OK();
}

arrow::Status LogFiles::Close(std::vector<FileRecord>* files) {
  for (auto* writer : {&edges_, &labels_, &updates_}) {
    if (*writer == nullptr) continue;
    ARROW_ASSIGN_OR_RAISE(files->emplace_back(), (*writer)->Close());
  }
  return arrow::Status::OK();
}

}  // namespace coden::importing
