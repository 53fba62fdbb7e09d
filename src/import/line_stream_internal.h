#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include "import/row_problems_internal.h"
#include "import/text_format_internal.h"

namespace coden::importing {

/// Longer lines are not rows of a table: the file is something else.
inline constexpr std::size_t kLongestLine = 1 << 20;

/// A delimited text as Arrow's CSV reader can take it: no comments, no header, no empty
/// lines, tabs for runs of blanks. In front of every row stands the number of its line
/// and a delimiter, so that a message can name the line whatever was left out before it.
///
/// Empty lines are ignored before the first row and after the last; between rows they
/// break a rule, as does a quoted value that goes on in the next line.
class LineStream : public arrow::io::InputStream {
 public:
  /// `text` is the beginning, `rest` what follows it.
  LineStream(std::string text, std::shared_ptr<arrow::io::InputStream> rest,
             const TextFormat& format, std::string comments, RowProblems* problems);

  /// The delimiter of what is read from here.
  char delimiter() const { return delimiter_; }
  std::int64_t num_comments() const { return num_comments_; }

  arrow::Status Close() override { return rest_->Close(); }
  bool closed() const override { return rest_->closed(); }
  arrow::Result<std::int64_t> Tell() const override { return position_; }
  arrow::Result<std::int64_t> Read(std::int64_t num_bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t num_bytes) override;

 private:
  /// Tidy more lines into `ready_`, which stays empty at the end of the text alone.
  arrow::Status Refill();
  arrow::Status TakeLines(bool last);
  arrow::Status TakeLine(std::string_view line);
  arrow::Status ReportEmptyLines();

  std::string text_;  // read, not yet cut into lines
  std::shared_ptr<arrow::io::InputStream> rest_;
  const bool blanks_;
  const char delimiter_;
  bool header_;  // still to come
  const std::string comments_;
  RowProblems* problems_;
  std::string ready_;
  std::size_t ready_begin_ = 0;
  bool at_end_ = false;
  bool in_rows_ = false;
  std::int64_t line_ = 0;
  std::int64_t first_empty_ = 0;
  std::int64_t num_empty_ = 0;
  std::int64_t position_ = 0;
  std::atomic<std::int64_t> num_comments_ = 0;  // read by another thread
};

}  // namespace coden::importing
