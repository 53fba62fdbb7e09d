#include "coden/snapshot/snapshot_writer.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/snapshot/snapshot_rows.h"
#include "coden/store/run_layout.h"
#include "snapshot/delta_rows_internal.h"
#include "snapshot/half_precision_internal.h"
#include "snapshot/snapshot_layout_internal.h"

namespace coden {

namespace {

constexpr char kFormatVersion[] = "1";

}  // namespace

SnapshotWriter::SnapshotWriter(const SnapshotOptions& options, RunStore& store,
                               const Schedule& schedule, const NodeIdMap& nodes,
                               int width, SnapshotProvenance provenance, int num_done,
                               std::vector<std::int64_t> num_rows, OnFile on_file)
    : options_(options),
      store_(store),
      schedule_(schedule),
      nodes_(nodes),
      width_(width),
      provenance_(std::move(provenance)),
      on_file_(std::move(on_file)),
      num_done_(num_done),
      num_rows_(std::move(num_rows)),
      snapshot_(num_done) {}

SnapshotWriter::~SnapshotWriter() = default;

arrow::Result<SchemaPtr> SnapshotWriter::Bind(const SchemaPtr& input) {
  file_schema_ =
      SnapshotSchema(nodes_.id_type(), options_.layout, width_, options_.precision);
  if (options_.mode == SnapshotMode::kDelta) {
    delta_ = std::make_unique<DeltaRows>(options_.threshold, options_.full_every, width_);
    if (num_done_ > 0) ARROW_RETURN_NOT_OK(ReadBase());
  }
  return input;
}

arrow::Status SnapshotWriter::ReadBase() {
  const int base = schedule_[num_done_ - 1].base.value_or(num_done_ - 1);
  const std::string name = RunLayout::Snapshot(base);
  ARROW_ASSIGN_OR_RAISE(const SnapshotRows rows, SnapshotRows::Read(store_, name));
  if (rows.num_rows() > 0 && rows.num_channels() != width_) {
    return CorruptionError("'", store_.Show(name), "' must have embeddings of length ",
                           width_, ": ", rows.num_channels());
  }
  NodeRows base_rows{{}, rows.numbers()};
  ARROW_RETURN_NOT_OK(nodes_.Find(*rows.nodes(), &base_rows.nodes));
  delta_->SetBase(base, std::move(base_rows));
  return arrow::Status::OK();
}

arrow::Status SnapshotWriter::OpenFile(int base) {
  ParquetFileOptions options;
  options.compression = options_.compression;
  options.metadata = arrow::key_value_metadata({
      {"coden.format_version", kFormatVersion},
      {"coden.run_id", provenance_.run_id},
      {"coden.parameters", provenance_.parameters},
      {"coden.input_fingerprint", provenance_.input_fingerprint},
      {"coden.snapshot_time", std::to_string(schedule_[snapshot_].time)},
      {"coden.dim", std::to_string(width_)},
      {"coden.base", std::to_string(base)},
  });
  return ParquetFileWriter::Stage(store_, RunLayout::Snapshot(snapshot_), file_schema_,
                                  options)
      .Value(&file_);
}

arrow::Status SnapshotWriter::Open() {
  is_open_ = true;
  rows_left_ = num_rows_[snapshot_ - num_done_];
  loss_.assign(width_, 0.0);
  return delta_ == nullptr ? OpenFile(/*base=*/snapshot_) : arrow::Status::OK();
}

arrow::Status SnapshotWriter::Close() {
  WrittenSnapshot written;
  written.snapshot = written.base = snapshot_;
  if (delta_ != nullptr) {
    const DeltaRows::Choice choice = delta_->Close(snapshot_);
    written.base = choice.base;
    for (int column = 0; column < width_; ++column)
      loss_[column] += choice.missed[column];
    ARROW_RETURN_NOT_OK(OpenFile(choice.base));
    ARROW_RETURN_NOT_OK(WriteChosen(choice.written));
  }
  ARROW_ASSIGN_OR_RAISE(written.file, file_->Close());
  file_.reset();
  const double worst =
      loss_.empty() ? 0.0 : *std::max_element(loss_.begin(), loss_.end());
  const std::int64_t num_nodes = schedule_[snapshot_].num_nodes;
  written.error_added = worst / static_cast<double>(std::max<std::int64_t>(num_nodes, 1));
  is_open_ = false;
  ++snapshot_;
  return on_file_(std::move(written));
}

arrow::Status SnapshotWriter::MoveTo(int snapshot) {
  while (snapshot_ < snapshot) {
    if (!is_open_) ARROW_RETURN_NOT_OK(Open());
    if (rows_left_ > 0) {
      return arrow::Status::Invalid("snapshot ", snapshot_, " lacks ", rows_left_,
                                    " rows when snapshot ", snapshot, " comes");
    }
    ARROW_RETURN_NOT_OK(Close());
  }
  if (snapshot == snapshot_) return arrow::Status::OK();
  return arrow::Status::Invalid(
      "snapshots must come in order, with no more rows than "
      "were told: ",
      snapshot, " after ", snapshot_ - 1);
}

arrow::Status SnapshotWriter::Push(BatchPtr batch, const Emit&) {
  const auto& numbers = static_cast<const arrow::Int32Array&>(*batch->column(0));
  for (std::int64_t begin = 0; begin < batch->num_rows();) {
    const int snapshot = numbers.Value(begin);
    std::int64_t end = begin + 1;
    while (end < batch->num_rows() && numbers.Value(end) == snapshot) ++end;
    if (snapshot >= static_cast<int>(schedule_.size()))
      return arrow::Status::Invalid("snapshot ", snapshot, " is not in the schedule");
    ARROW_RETURN_NOT_OK(MoveTo(snapshot));
    if (!is_open_) ARROW_RETURN_NOT_OK(Open());
    rows_left_ -= end - begin;
    if (rows_left_ < 0) {
      return arrow::Status::Invalid("snapshot ", snapshot, " has ", -rows_left_,
                                    " rows more than were told");
    }
    ARROW_RETURN_NOT_OK(Take(*batch->Slice(begin, end - begin)));
    if (rows_left_ == 0) ARROW_RETURN_NOT_OK(Close());
    begin = end;
  }
  return arrow::Status::OK();
}

arrow::Status SnapshotWriter::Finish(const Emit&) {
  return MoveTo(static_cast<int>(schedule_.size()));
}

arrow::Status SnapshotWriter::Take(const arrow::RecordBatch& batch) {
  const auto& nodes = static_cast<const arrow::Int32Array&>(*batch.column(1));
  const auto& lists = static_cast<const arrow::ListArray&>(*batch.column(2));
  ARROW_ASSIGN_OR_RAISE(const auto values, lists.Flatten());
  NodeRows rows{{nodes.raw_values(), nodes.raw_values() + nodes.length()},
                std::static_pointer_cast<arrow::FloatArray>(values)};
  if (options_.precision == SnapshotPrecision::kFloat16)
    ARROW_RETURN_NOT_OK(Round(&rows));
  if (delta_ == nullptr) return Write(rows);
  delta_->Add(rows);
  waiting_.push_back(std::move(rows));
  return arrow::Status::OK();
}

arrow::Status SnapshotWriter::Round(NodeRows* rows) {
  const std::int64_t count = rows->numbers->length();
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> rounded,
                        arrow::AllocateBuffer(count * std::int64_t{sizeof(float)}));
  const float* numbers = rows->numbers->raw_values();
  const std::int64_t done =
      RoundToHalf({numbers, static_cast<std::size_t>(count)}, loss_,
                  reinterpret_cast<float*>(rounded->mutable_data()));
  if (done < count) {
    return InputError("float16 holds numbers up to ", FormatShortest(kLargestHalf),
                      "; set `snapshot.precision = float32`: at snapshot ", snapshot_,
                      " node ", nodes_.Show(rows->nodes[done / width_]), " has ",
                      FormatShortest(numbers[done]));
  }
  rows->numbers = std::make_shared<arrow::FloatArray>(count, std::move(rounded));
  return arrow::Status::OK();
}

arrow::Status SnapshotWriter::Write(const NodeRows& rows) {
  ARROW_ASSIGN_OR_RAISE(const auto ids, nodes_.Take(rows.nodes));
  ARROW_ASSIGN_OR_RAISE(const auto arranged,
                        ArrangeRows(options_, file_schema_, ids, rows.numbers));
  return file_->Write(*arranged);
}

arrow::Status SnapshotWriter::WriteChosen(const std::vector<bool>& chosen) {
  auto next = chosen.begin();
  for (const NodeRows& rows : std::exchange(waiting_, {})) {
    const auto end = next + static_cast<std::ptrdiff_t>(rows.nodes.size());
    const std::int64_t count = std::count(next, end, true);
    if (count == static_cast<std::int64_t>(rows.nodes.size())) {
      ARROW_RETURN_NOT_OK(Write(rows));
      next = end;
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<arrow::Buffer> numbers,
        arrow::AllocateBuffer(count * width_ * std::int64_t{sizeof(float)}));
    auto* out = reinterpret_cast<float*>(numbers->mutable_data());
    NodeRows kept;
    kept.nodes.reserve(static_cast<std::size_t>(count));
    const float* row = rows.numbers->raw_values();
    for (const NodeId node : rows.nodes) {
      if (*next++) {
        kept.nodes.push_back(node);
        out = std::copy_n(row, width_, out);
      }
      row += width_;
    }
    kept.numbers =
        std::make_shared<arrow::FloatArray>(count * width_, std::move(numbers));
    ARROW_RETURN_NOT_OK(Write(kept));
  }
  return arrow::Status::OK();
}

}  // namespace coden
