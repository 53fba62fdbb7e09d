#include "state/slice_rows_internal.h"

#include <algorithm>
#include <span>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/reader.h>

#include "coden/base/error.h"
#include "coden/store/hasher.h"

namespace coden {

namespace {

// Where the embedder puts the vectors (Embedder::OutputSchema).
constexpr int kEmbedding = 2;

constexpr std::string_view kRows = "rows.arrows";

arrow::Status NotAsWritten(const RunStore& store, const SavedSlice& slice) {
  return CorruptionError("'", store.Show(slice.rows.staged),
                         "' is not what was written; embed columns ", slice.columns.begin,
                         ":", slice.columns.end, " again: remove '_coden/slices'");
}

/// Hash a file while it is read from its beginning to its end.
class HashingInput : public arrow::io::InputStream {
 public:
  explicit HashingInput(std::shared_ptr<arrow::io::InputStream> file)
      : file_(std::move(file)) {}

  arrow::Status Close() override { return file_->Close(); }
  bool closed() const override { return file_->closed(); }
  arrow::Result<std::int64_t> Tell() const override { return position_; }

  arrow::Result<std::int64_t> Read(std::int64_t size, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const std::int64_t got, file_->Read(size, out));
    Add(out, got);
    return got;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t size) override {
    ARROW_ASSIGN_OR_RAISE(auto bytes, file_->Read(size));
    Add(bytes->data(), bytes->size());
    return bytes;
  }

  bool Is(const FileRecord& record) const {
    return position_ == record.size && hash_.Digest() == record.xxh3;
  }

 private:
  void Add(const void* data, std::int64_t size) {
    hash_.Update(data, static_cast<std::size_t>(size));
    position_ += size;
  }

  std::shared_ptr<arrow::io::InputStream> file_;
  Hasher hash_;
  std::int64_t position_ = 0;
};

// The numbers of all rows of a list column, row by row.
std::span<const float> NumbersOf(const arrow::Array& column) {
  const auto& lists = static_cast<const arrow::ListArray&>(column);
  const auto& values = static_cast<const arrow::FloatArray&>(*lists.values());
  if (lists.length() == 0) return {};  // it may have no offsets
  const std::int64_t begin = lists.value_offset(0);
  return {values.raw_values() + begin,
          static_cast<std::size_t>(lists.value_offset(lists.length()) - begin)};
}

class JoinedSlices : public arrow::RecordBatchReader {
 public:
  JoinedSlices(const RunStore& store, const std::vector<SavedSlice>& slices)
      : store_(store), slices_(slices) {}

  arrow::Status Open() {
    for (const SavedSlice& slice : slices_) {
      ARROW_ASSIGN_OR_RAISE(auto file, store_.OpenUnchecked(slice.rows.staged));
      files_.push_back(std::make_shared<HashingInput>(std::move(file)));
      auto stream = arrow::ipc::RecordBatchStreamReader::Open(files_.back());
      if (!stream.ok()) return Failed(slice, stream.status());
      streams_.push_back(*std::move(stream));
      const SchemaPtr found = streams_.back()->schema();
      const bool has_nodes = &slice == slices_.data();
      if (found->num_fields() != (has_nodes ? kEmbedding + 1 : 1) ||
          !found->fields().back()->type()->Equals(
              *streams_.front()->schema()->field(kEmbedding)->type())) {
        return NotAsWritten(store_, slice);
      }
      width_ += slice.columns.size();
    }
    return arrow::Status::OK();
  }

  SchemaPtr schema() const override { return streams_.front()->schema(); }

  arrow::Status ReadNext(BatchPtr* out) override {
    std::vector<BatchPtr> parts(streams_.size());
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const arrow::Status read = streams_[i]->ReadNext(&parts[i]);
      if (!read.ok()) return Failed(slices_[i], read);
    }
    *out = nullptr;
    if (parts.front() == nullptr) return CheckEnd(parts);
    const std::int64_t rows = parts.front()->num_rows();
    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<arrow::Buffer> values,
        arrow::AllocateBuffer(rows * width_ * static_cast<std::int64_t>(sizeof(float))));
    auto* numbers = reinterpret_cast<float*>(values->mutable_data());
    int column = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const int width = slices_[i].columns.size();
      ARROW_RETURN_NOT_OK(Place(parts[i], slices_[i], rows, numbers + column));
      column += width;
    }
    std::vector<std::int32_t> offsets(rows + 1);
    for (std::int64_t row = 0; row < rows; ++row)
      offsets[row + 1] = static_cast<std::int32_t>((row + 1) * width_);
    const auto& first = *parts.front();
    auto lists = std::make_shared<arrow::ListArray>(
        first.column(kEmbedding)->type(), rows,
        arrow::Buffer::FromVector(std::move(offsets)),
        std::make_shared<arrow::FloatArray>(rows * width_, values));
    *out = arrow::RecordBatch::Make(schema(), rows,
                                    {first.column(0), first.column(1), std::move(lists)});
    return arrow::Status::OK();
  }

 private:
  arrow::Status Failed(const SavedSlice& slice, const arrow::Status& status) const {
    // Short memory and failing disks keep their names; all else is the file's fault.
    if (FaultOf(status) || status.IsIOError()) {
      return status.WithMessage("cannot read '", store_.Show(slice.rows.staged),
                                "': ", status.message());
    }
    return NotAsWritten(store_, slice);
  }

  // Copy the rows of one slice into the columns of whole rows from `out` on.
  arrow::Status Place(const BatchPtr& batch, const SavedSlice& slice, std::int64_t rows,
                      float* out) const {
    const int width = slice.columns.size();
    if (batch == nullptr || batch->num_rows() != rows || !batch->Validate().ok())
      return NotAsWritten(store_, slice);
    const auto numbers = NumbersOf(*batch->columns().back());
    if (numbers.size() != static_cast<std::size_t>(rows * width))
      return NotAsWritten(store_, slice);
    for (std::int64_t row = 0; row < rows; ++row)
      std::copy_n(numbers.data() + row * width, width, out + row * width_);
    return arrow::Status::OK();
  }

  arrow::Status CheckEnd(const std::vector<BatchPtr>& parts) const {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] != nullptr || !files_[i]->Is(slices_[i].rows))
        return NotAsWritten(store_, slices_[i]);
    }
    return arrow::Status::OK();
  }

  const RunStore& store_;
  const std::vector<SavedSlice>& slices_;
  std::vector<std::shared_ptr<HashingInput>> files_;
  std::vector<std::shared_ptr<arrow::RecordBatchReader>> streams_;
  int width_ = 0;
};

}  // namespace

arrow::Result<SchemaPtr> SliceRowsWriter::Bind(const SchemaPtr& input) {
  file_.path = kRows;
  file_.staged = store_.StageName(kRows);
  ARROW_ASSIGN_OR_RAISE(output_, store_.Create(file_.staged));
  SchemaPtr kept = with_nodes_ ? input : arrow::schema({input->field(kEmbedding)});
  ARROW_ASSIGN_OR_RAISE(writer_, arrow::ipc::MakeStreamWriter(output_, kept));
  return kept;
}

arrow::Status SliceRowsWriter::Push(BatchPtr batch, const Emit&) {
  if (batch->num_rows() == 0) return arrow::Status::OK();
  file_.rows += batch->num_rows();
  if (with_nodes_) return writer_->WriteRecordBatch(*batch);
  ARROW_ASSIGN_OR_RAISE(const auto numbers, batch->SelectColumns({kEmbedding}));
  return writer_->WriteRecordBatch(*numbers);
}

arrow::Status SliceRowsWriter::Finish(const Emit&) {
  ARROW_RETURN_NOT_OK(writer_->Close());
  ARROW_ASSIGN_OR_RAISE(file_.size, output_->Tell());
  ARROW_RETURN_NOT_OK(output_->Close());
  file_.xxh3 = output_->Digest();
  return arrow::Status::OK();
}

arrow::Result<std::unique_ptr<arrow::RecordBatchReader>> ReadSlices(
    const RunStore& store, const std::vector<SavedSlice>& slices) {
  auto joined = std::make_unique<JoinedSlices>(store, slices);
  ARROW_RETURN_NOT_OK(joined->Open());
  return joined;
}

}  // namespace coden
