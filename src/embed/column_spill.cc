#include <algorithm>
#include <filesystem>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>

#include "coden/pipeline/error.h"
#include "embed/column_spill_internal.h"
#include "store/private_file_internal.h"

namespace coden {

namespace {

// Where the embedder puts the vectors (Embedder::Bind).
constexpr int kEmbedding = 2;

// The numbers of all rows of a batch, row by row.
std::span<const float> NumbersOf(const arrow::RecordBatch& batch) {
  const auto& lists = static_cast<const arrow::ListArray&>(*batch.column(kEmbedding));
  const auto& values = static_cast<const arrow::FloatArray&>(*lists.values());
  if (lists.length() == 0) return {};  // it may have no offsets
  const std::int64_t begin = lists.value_offset(0);
  return {values.raw_values() + begin,
          static_cast<std::size_t>(lists.value_offset(lists.length()) - begin)};
}

// Copy a matrix of `width` columns into the columns from `column` on of one of
// `out_width`.
void PlaceColumns(std::span<const float> from, int width, float* out, int column,
                  int out_width) {
  const std::size_t rows = from.size() / static_cast<std::size_t>(width);
  for (std::size_t row = 0; row < rows; ++row) {
    std::copy_n(from.data() + row * width, width, out + row * out_width + column);
  }
}

}  // namespace

arrow::Result<std::unique_ptr<ColumnSpill>> ColumnSpill::Create(std::string path,
                                                                int width) {
  std::unique_ptr<ColumnSpill> spill(new ColumnSpill(std::move(path), width));
  auto file = CreatePrivateFile(spill->path_);
  if (!file.ok()) return spill->Failed("create", file.status());
  spill->output_ = *std::move(file);
  return spill;
}

ColumnSpill::~ColumnSpill() {
  if (output_ == nullptr) return;
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

arrow::Status ColumnSpill::Failed(const char* action, const arrow::Status& status) const {
  return status.WithMessage("cannot ", action, " the temporary file '", path_,
                            "': ", status.message());
}

arrow::Status ColumnSpill::Write(std::span<const float> numbers) {
  const auto size = static_cast<std::int64_t>(numbers.size_bytes());
  const arrow::Status status = output_->Write(numbers.data(), size);
  if (!status.ok()) return Failed("write", status);
  written_ += size;
  return arrow::Status::OK();
}

arrow::Status ColumnSpill::Rewind() {
  const arrow::Status closed = output_->Close();
  if (!closed.ok()) return Failed("write", closed);
  auto file = arrow::io::ReadableFile::Open(path_);
  if (!file.ok()) return Failed("read", file.status());
  input_ = *std::move(file);
  return arrow::Status::OK();
}

arrow::Status ColumnSpill::Read(std::span<float> numbers) {
  const auto size = static_cast<std::int64_t>(numbers.size_bytes());
  if (read_ + size > written_) return InputChanged();
  const auto got = input_->Read(size, numbers.data());
  if (!got.ok()) return Failed("read", got.status());
  if (*got != size) {
    return arrow::Status::IOError("the temporary file '", path_,
                                  "' was changed while the run needed it; run again: ",
                                  read_ + *got, " of ", written_, " bytes are there");
  }
  read_ += size;
  return arrow::Status::OK();
}

arrow::Status ColumnSpill::ExpectEnd() const {
  return read_ == written_ ? arrow::Status::OK() : InputChanged();
}

arrow::Status ColumnSpiller::Push(BatchPtr batch, const Emit&) {
  return spill_.Write(NumbersOf(*batch));
}

arrow::Status ColumnSpiller::Finish(const Emit&) { return spill_.Rewind(); }

arrow::Status ColumnJoiner::Push(BatchPtr batch, const Emit& emit) {
  const std::int64_t rows = batch->num_rows();
  if (rows == 0) return arrow::Status::OK();
  const std::span<const float> own = NumbersOf(*batch);
  const auto own_width = static_cast<int>(own.size() / static_cast<std::size_t>(rows));
  int width = own_width;
  for (const auto& spill : spills_) width += spill->width();

  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> values,
      arrow::AllocateBuffer(rows * width * static_cast<std::int64_t>(sizeof(float))));
  auto* out = reinterpret_cast<float*>(values->mutable_data());
  int column = 0;
  for (const auto& spill : spills_) {
    slice_.resize(static_cast<std::size_t>(rows) * spill->width());
    ARROW_RETURN_NOT_OK(spill->Read(slice_));
    PlaceColumns(slice_, spill->width(), out, column, width);
    column += spill->width();
  }
  PlaceColumns(own, own_width, out, column, width);

  std::vector<std::int32_t> offsets(rows + 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    offsets[row + 1] = static_cast<std::int32_t>((row + 1) * width);
  }
  auto lists = std::make_shared<arrow::ListArray>(
      batch->column(kEmbedding)->type(), rows,
      arrow::Buffer::FromVector(std::move(offsets)),
      std::make_shared<arrow::FloatArray>(rows * width, values));
  return emit(arrow::RecordBatch::Make(
      batch->schema(), rows, {batch->column(0), batch->column(1), std::move(lists)}));
}

arrow::Status ColumnJoiner::Finish(const Emit&) {
  for (const auto& spill : spills_) ARROW_RETURN_NOT_OK(spill->ExpectEnd());
  return arrow::Status::OK();
}

}  // namespace coden
