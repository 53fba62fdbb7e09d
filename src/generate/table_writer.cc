#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "generate/table_writer_internal.h"

namespace coden::generate {

namespace {

// Make an array of the vector's memory and leave the vector empty, with room for as many
// values. The Parquet writer keeps batches, so the memory cannot be used again.
template <typename Array, typename Value>
std::shared_ptr<arrow::Array> Take(std::vector<Value>& values) {
  std::vector<Value> taken;
  taken.reserve(values.size());
  taken.swap(values);
  const auto length = static_cast<std::int64_t>(taken.size());
  return std::make_shared<Array>(length, arrow::Buffer::FromVector(std::move(taken)));
}

SchemaPtr Required(
    std::vector<std::pair<std::string, std::shared_ptr<arrow::DataType>>> columns) {
  arrow::FieldVector fields;
  for (auto& [name, type] : columns) {
    fields.push_back(arrow::field(name, std::move(type), /*nullable=*/false));
  }
  return arrow::schema(std::move(fields));
}

arrow::Status WriteColumns(ParquetFileWriter& writer, const SchemaPtr& schema,
                           arrow::ArrayVector columns) {
  const std::int64_t num_rows = columns.front()->length();
  return writer.Write(*arrow::RecordBatch::Make(schema, num_rows, std::move(columns)));
}

}  // namespace

arrow::Result<std::unique_ptr<ParquetFileWriter>> OpenTable(const std::string& directory,
                                                            const std::string& name,
                                                            const SchemaPtr& schema,
                                                            const Metadata& metadata,
                                                            std::int64_t row_group_rows) {
  ParquetFileOptions options;
  options.metadata = metadata;
  options.row_group_rows = row_group_rows;
  return ParquetFileWriter::Open(directory + "/" + name,
                                 directory + "/." + name + ".partial", schema, options);
}

arrow::Result<EdgeWriter> EdgeWriter::Open(const std::string& directory, bool with_op,
                                           const Metadata& metadata) {
  EdgeWriter edges;
  edges.with_op_ = with_op;
  edges.schema_ = Required(
      {{"src", arrow::int64()}, {"dst", arrow::int64()}, {"time", arrow::int64()}});
  if (with_op) {
    ARROW_ASSIGN_OR_RAISE(edges.schema_,
                          edges.schema_->AddField(
                              3, arrow::field("op", arrow::int8(), /*nullable=*/false)));
  }
  ARROW_ASSIGN_OR_RAISE(edges.writer_,
                        OpenTable(directory, "edges.parquet", edges.schema_, metadata));
  return edges;
}

arrow::Status EdgeWriter::Flush() {
  arrow::ArrayVector columns = {Take<arrow::Int64Array>(src_),
                                Take<arrow::Int64Array>(dst_),
                                Take<arrow::Int64Array>(time_)};
  if (with_op_) columns.push_back(Take<arrow::Int8Array>(op_));
  return WriteColumns(*writer_, schema_, std::move(columns));
}

arrow::Result<FileRecord> EdgeWriter::Close() {
  ARROW_RETURN_NOT_OK(Flush());
  return writer_->Close();
}

arrow::Result<LabelWriter> LabelWriter::Open(const std::string& directory,
                                             const Metadata& metadata) {
  LabelWriter labels;
  labels.schema_ = Required(
      {{"node", arrow::int64()}, {"label", arrow::int32()}, {"time", arrow::int64()}});
  ARROW_ASSIGN_OR_RAISE(labels.writer_,
                        OpenTable(directory, "labels.parquet", labels.schema_, metadata));
  return labels;
}

arrow::Status LabelWriter::Flush() {
  return WriteColumns(*writer_, schema_,
                      {Take<arrow::Int64Array>(node_), Take<arrow::Int32Array>(label_),
                       Take<arrow::Int64Array>(time_)});
}

arrow::Result<FileRecord> LabelWriter::Close() {
  ARROW_RETURN_NOT_OK(Flush());
  return writer_->Close();
}

arrow::Result<std::unique_ptr<ParquetFileWriter>> WriteFeatures(
    const std::string& directory, std::int64_t num_nodes, int num_features,
    const FillFeatures& fill, const Metadata& metadata, const RunContext& context) {
  constexpr std::int64_t kBatchFloats = 1 << 20;
  const std::int64_t batch_rows = std::max<std::int64_t>(1, kBatchFloats / num_features);
  const auto item = arrow::field("element", arrow::float32(), /*nullable=*/false);
  const auto list = arrow::fixed_size_list(item, num_features);
  const SchemaPtr schema = Required({{"node", arrow::int64()}, {"x", list}});
  ARROW_ASSIGN_OR_RAISE(auto writer,
                        OpenTable(directory, "features.parquet", schema, metadata));

  context.progress->Begin("features", "nodes", num_nodes);
  std::vector<std::int64_t> nodes;
  std::vector<float> x;
  for (std::int64_t begin = 0; begin < num_nodes; begin += batch_rows) {
    ARROW_RETURN_NOT_OK(context.stop.Poll());
    const std::int64_t end = std::min(num_nodes, begin + batch_rows);
    x.assign(static_cast<std::size_t>((end - begin) * num_features), 0.0F);
    for (std::int64_t node = begin; node < end; ++node) {
      nodes.push_back(node);
      fill(node, std::span(x).subspan((node - begin) * num_features, num_features));
    }
    auto rows = std::make_shared<arrow::FixedSizeListArray>(list, end - begin,
                                                            Take<arrow::FloatArray>(x));
    ARROW_RETURN_NOT_OK(
        WriteColumns(*writer, schema, {Take<arrow::Int64Array>(nodes), std::move(rows)}));
    context.progress->Advance(end);
  }
  context.progress->End(std::to_string(num_features) + " features of " +
                        std::to_string(num_nodes) + " nodes");
  return writer;
}

}  // namespace coden::generate
