#include "import/line_stream_internal.h"

#include <algorithm>
#include <cstring>

#include <arrow/buffer.h>

#include "coden/base/error.h"
#include "import/field_values_internal.h"

namespace coden::importing {

namespace {

constexpr std::int64_t kReadBytes = 1 << 18;
constexpr RowRule kEmptyLine = {"empty line",
                                "a line between rows must not be empty; remove it"};
// Arrow's reader takes one for the end of a row.
constexpr RowRule kCarriageReturn = {
    "carriage return inside a line",
    "a carriage return must not stand inside a line; end lines with line feeds"};
constexpr RowRule kOpenQuote = {
    "quoted value without end",
    "a quoted value must end in its line; take line breaks and stray quotes out"};

}  // namespace

LineStream::LineStream(std::string text, std::shared_ptr<arrow::io::InputStream> rest,
                       const TextFormat& format, std::string comments,
                       RowProblems* problems)
    : text_(std::move(text)),
      rest_(std::move(rest)),
      blanks_(format.delimiter == kBlanks),
      delimiter_(blanks_ ? '\t' : format.delimiter),
      header_(format.header),
      comments_(std::move(comments)),
      problems_(problems) {}

arrow::Result<std::int64_t> LineStream::Read(std::int64_t num_bytes, void* out) {
  if (ready_begin_ == ready_.size()) ARROW_RETURN_NOT_OK(Refill());
  const std::size_t count =
      std::min(static_cast<std::size_t>(num_bytes), ready_.size() - ready_begin_);
  std::memcpy(out, ready_.data() + ready_begin_, count);
  ready_begin_ += count;
  position_ += static_cast<std::int64_t>(count);
  return static_cast<std::int64_t>(count);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> LineStream::Read(std::int64_t num_bytes) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(num_bytes));
  std::int64_t filled = 0;
  while (filled < num_bytes) {
    ARROW_ASSIGN_OR_RAISE(const std::int64_t count,
                          Read(num_bytes - filled, buffer->mutable_data() + filled));
    if (count == 0) break;
    filled += count;
  }
  ARROW_RETURN_NOT_OK(buffer->Resize(filled));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Status LineStream::Refill() {
  ready_.clear();
  ready_begin_ = 0;
  ARROW_RETURN_NOT_OK(TakeLines(/*last=*/false));
  while (ready_.empty() && !at_end_) {
    const std::size_t old_size = text_.size();
    text_.resize(old_size + kReadBytes);
    ARROW_ASSIGN_OR_RAISE(const std::int64_t count,
                          rest_->Read(kReadBytes, text_.data() + old_size));
    text_.resize(old_size + static_cast<std::size_t>(count));
    at_end_ = count == 0;
    ARROW_RETURN_NOT_OK(TakeLines(at_end_));
  }
  return arrow::Status::OK();
}

arrow::Status LineStream::TakeLines(bool last) {
  std::string_view left = text_;
  while (!left.empty()) {
    const std::size_t end = left.find('\n');
    if (std::min(end, left.size()) > kLongestLine) {
      return InputError(problems_->name(), ", line ", line_ + 1,
                        ": a line must be shorter than 1 MB; is this a table of text?");
    }
    if (end == std::string_view::npos && !last) break;
    ARROW_RETURN_NOT_OK(TakeLine(left.substr(0, end)));
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
  }
  text_.erase(0, text_.size() - left.size());
  return arrow::Status::OK();
}

arrow::Status LineStream::TakeLine(std::string_view line) {
  ++line_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (Trimmed(line).empty()) {
    if (num_empty_ == 0) first_empty_ = line_;
    if (in_rows_) ++num_empty_;
    return arrow::Status::OK();
  }
  if (IsComment(line, comments_)) {
    ++num_comments_;
    return arrow::Status::OK();
  }
  if (header_) {
    header_ = false;
    return arrow::Status::OK();
  }
  in_rows_ = true;
  ARROW_RETURN_NOT_OK(ReportEmptyLines());
  if (line.find('\r') != std::string_view::npos) {
    return problems_->Report(line_, {}, kCarriageReturn, line);
  }
  if (!blanks_ && std::count(line.begin(), line.end(), '"') % 2 != 0) {
    return problems_->Report(line_, {}, kOpenQuote, line);
  }
  ready_ += std::to_string(line_);
  if (blanks_) {
    for (const std::string& field : SplitLine(line, kBlanks)) {
      ready_ += delimiter_;
      ready_ += field;
    }
  } else {
    ready_ += delimiter_;
    ready_ += line;
  }
  ready_ += '\n';
  return arrow::Status::OK();
}

arrow::Status LineStream::ReportEmptyLines() {
  for (; num_empty_ > 0; --num_empty_) {
    ARROW_RETURN_NOT_OK(problems_->Report(first_empty_, {}, kEmptyLine));
  }
  return arrow::Status::OK();
}

}  // namespace coden::importing
