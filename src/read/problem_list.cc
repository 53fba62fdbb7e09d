#include "read/problem_list_internal.h"

#include <algorithm>

#include <arrow/record_batch.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"

namespace coden {

ProblemList::ProblemList(std::string input, std::string_view path)
    : input_(std::move(input)),
      path_(MaskCredentials(path)),
      on_breach_([this](const Breach& breach) {
        Add(breach);
        return arrow::Status::OK();
      }) {}

void ProblemList::Add(const Breach& breach) {
  if (breach.row >= 0) {
    const auto row = static_cast<std::size_t>(breach.row - first_row_);
    if (row < broken_.size()) broken_[row] = true;
  }
  const auto [found, is_new] =
      by_rule_.try_emplace({breach.column, breach.rule}, problems_.size());
  if (is_new) {
    problems_.push_back(
        {input_, path_, breach.column, breach.Sentence(), /*count=*/0, breach.row});
  }
  ++problems_[found->second].count;
}

void ProblemList::Remark(std::string column, std::string rule, std::int64_t count,
                         std::int64_t first_row) {
  if (count == 0) return;
  problems_.push_back({input_, path_, std::move(column), std::move(rule), count,
                       first_row, /*fatal=*/false});
}

arrow::Status ProblemList::Absorb(const arrow::Status& status) {
  // A path that cannot be understood is a problem of that input, not of the command.
  const auto fault = FaultOf(status);
  if (fault != Fault::kInput && fault != Fault::kUsage) return status;
  Add({{}, -1, MaskCredentials(status.message()), {}});
  return arrow::Status::OK();
}

std::vector<InputProblem> ProblemList::Take() {
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const InputProblem& a, const InputProblem& b) {
                     return std::pair(!a.fatal, a.first_row) <
                            std::pair(!b.fatal, b.first_row);
                   });
  return std::move(problems_);
}

arrow::Status ProblemList::ForEachBatch(
    const ParquetSource& source, const std::vector<std::string>& columns,
    std::int64_t batch_rows, std::int64_t begin_row, std::int64_t end_row,
    const RunContext& context,
    const std::function<arrow::Status(const arrow::RecordBatch&, std::int64_t)>& visit) {
  if (columns.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto reader,
                        source.Scan(columns, batch_rows, begin_row, end_row));
  context.progress->Begin("validate " + input_, "rows", end_row - begin_row);
  first_row_ = begin_row;
  while (true) {
    ARROW_RETURN_NOT_OK(context.stop.Poll());
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) break;
    broken_.assign(static_cast<std::size_t>(batch->num_rows()), false);
    ARROW_RETURN_NOT_OK(visit(*batch, first_row_));
    first_row_ += batch->num_rows();
    context.progress->Advance(first_row_ - begin_row);
  }
  context.progress->End(FormatCount(first_row_ - begin_row) + " rows");
  return arrow::Status::OK();
}

}  // namespace coden
