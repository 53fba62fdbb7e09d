#include "coden/snapshot/snapshot_writer.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/compute/api.h>
#include <arrow/type.h>

#include "coden/pipeline/error.h"
#include "coden/report/printable.h"
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
                               OnFile on_file)
    : options_(options),
      store_(store),
      schedule_(schedule),
      nodes_(nodes),
      width_(width),
      provenance_(std::move(provenance)),
      on_file_(std::move(on_file)),
      num_done_(num_done),
      open_snapshot_(num_done - 1) {}

SnapshotWriter::~SnapshotWriter() = default;

arrow::Result<SchemaPtr> SnapshotWriter::Bind(const SchemaPtr& input) {
  file_schema_ = SnapshotSchema(input->GetFieldByName("node")->type(), options_.layout,
                                width_, options_.precision);
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
      {"coden.snapshot_time", std::to_string(schedule_[open_snapshot_].time)},
      {"coden.dim", std::to_string(width_)},
      {"coden.base", std::to_string(base)},
  });
  return ParquetFileWriter::Stage(store_, RunLayout::Snapshot(open_snapshot_),
                                  file_schema_, options)
      .Value(&file_);
}

arrow::Status SnapshotWriter::Open(int snapshot) {
  open_snapshot_ = snapshot;
  loss_.assign(width_, 0.0);
  return delta_ == nullptr ? OpenFile(/*base=*/snapshot) : arrow::Status::OK();
}

arrow::Status SnapshotWriter::Close() {
  if (open_snapshot_ < num_done_) return arrow::Status::OK();
  WrittenSnapshot written;
  written.snapshot = written.base = open_snapshot_;
  if (delta_ != nullptr) {
    const DeltaRows::Choice choice = delta_->Close(open_snapshot_);
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
  const std::int64_t num_nodes = schedule_[open_snapshot_].num_nodes;
  written.error_added = worst / static_cast<double>(std::max<std::int64_t>(num_nodes, 1));
  return on_file_(std::move(written));
}

arrow::Status SnapshotWriter::MoveTo(int snapshot) {
  if (snapshot < open_snapshot_) {
    return arrow::Status::Invalid("snapshots must come in order: ", snapshot, " after ",
                                  open_snapshot_);
  }
  while (open_snapshot_ < snapshot) {
    ARROW_RETURN_NOT_OK(Close());
    ARROW_RETURN_NOT_OK(Open(open_snapshot_ + 1));
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
    ARROW_RETURN_NOT_OK(Take(*batch->Slice(begin, end - begin)));
    begin = end;
  }
  return arrow::Status::OK();
}

arrow::Status SnapshotWriter::Finish(const Emit&) {
  ARROW_RETURN_NOT_OK(MoveTo(static_cast<int>(schedule_.size()) - 1));
  return Close();
}

arrow::Status SnapshotWriter::Take(const arrow::RecordBatch& batch) {
  const auto& lists = static_cast<const arrow::ListArray&>(*batch.column(2));
  ARROW_ASSIGN_OR_RAISE(const auto values, lists.Flatten());
  Rows rows{batch.column(1), std::static_pointer_cast<arrow::FloatArray>(values)};
  if (options_.precision == SnapshotPrecision::kFloat16)
    ARROW_RETURN_NOT_OK(Round(&rows));
  if (delta_ == nullptr) return Write(rows);
  NodeRows node_rows{{}, rows.numbers};
  ARROW_RETURN_NOT_OK(nodes_.Find(*rows.ids, &node_rows.nodes));
  delta_->Add(std::move(node_rows));
  waiting_.push_back(std::move(rows));
  return arrow::Status::OK();
}

arrow::Status SnapshotWriter::Round(Rows* rows) {
  const std::int64_t count = rows->numbers->length();
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> rounded,
                        arrow::AllocateBuffer(count * std::int64_t{sizeof(float)}));
  const float* numbers = rows->numbers->raw_values();
  const std::int64_t done =
      RoundToHalf({numbers, static_cast<std::size_t>(count)}, loss_,
                  reinterpret_cast<float*>(rounded->mutable_data()));
  if (done < count) {
    std::vector<NodeId> node;
    ARROW_RETURN_NOT_OK(nodes_.Find(*rows->ids->Slice(done / width_, 1), &node));
    return InputError("float16 holds numbers up to ", FormatShortest(kLargestHalf),
                      "; set `snapshot.precision = float32`: at snapshot ",
                      open_snapshot_, " node ", nodes_.Show(node.front()), " has ",
                      FormatShortest(numbers[done]));
  }
  rows->numbers = std::make_shared<arrow::FloatArray>(count, std::move(rounded));
  return arrow::Status::OK();
}

arrow::Status SnapshotWriter::Write(const Rows& rows) {
  ARROW_ASSIGN_OR_RAISE(const auto arranged,
                        ArrangeRows(options_, file_schema_, rows.ids, rows.numbers));
  return file_->Write(*arranged);
}

arrow::Status SnapshotWriter::WriteChosen(const std::vector<bool>& chosen) {
  auto next = chosen.begin();
  for (const Rows& rows : std::exchange(waiting_, {})) {
    const auto end = next + rows.ids->length();
    const std::int64_t count = std::count(next, end, true);
    if (count == rows.ids->length()) {
      ARROW_RETURN_NOT_OK(Write(rows));
      next = end;
      continue;
    }
    arrow::BooleanBuilder mask;
    ARROW_RETURN_NOT_OK(mask.Reserve(rows.ids->length()));
    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<arrow::Buffer> numbers,
        arrow::AllocateBuffer(count * width_ * std::int64_t{sizeof(float)}));
    auto* out = reinterpret_cast<float*>(numbers->mutable_data());
    const float* row = rows.numbers->raw_values();
    for (; next != end; ++next, row += width_) {
      mask.UnsafeAppend(*next);
      if (*next) out = std::copy_n(row, width_, out);
    }
    ARROW_ASSIGN_OR_RAISE(const auto kept, mask.Finish());
    ARROW_ASSIGN_OR_RAISE(const auto ids, arrow::compute::Filter(rows.ids, kept));
    ARROW_RETURN_NOT_OK(
        Write({ids.make_array(),
               std::make_shared<arrow::FloatArray>(count * width_, std::move(numbers))}));
  }
  return arrow::Status::OK();
}

}  // namespace coden
