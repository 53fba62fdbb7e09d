#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/csv/reader.h>
#include <arrow/result.h>

#include "coden/base/progress.h"
#include "import/byte_source_internal.h"
#include "import/line_stream_internal.h"
#include "import/row_problems_internal.h"
#include "import/text_format_internal.h"

namespace coden::importing {

/// Read a delimited text as record batches. Memory does not grow with the text.
class TextTableReader {
 public:
  /// Open the input and find its format.
  static arrow::Result<std::unique_ptr<TextTableReader>> Open(
      const std::string& path, char delimiter, HeaderRow header, std::string comments,
      RowProblems* problems, const arrow::StopToken& stop);

  const TextFormat& format() const { return format_; }
  std::int64_t size() const { return source_.size; }
  std::int64_t bytes_read() const { return *source_.bytes_read; }
  std::int64_t num_comments() const { return lines_->num_comments(); }

  /// Choose columns by their places; once, before Next.
  arrow::Status Select(const std::vector<int>& columns);

  /// The next rows, or null at the end. The first column holds the number of each row's
  /// line, the others are binary, as they were selected. Rows with a wrong number of
  /// fields are reported and left out.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next();

 private:
  explicit TextTableReader(RowProblems* problems) : problems_(problems) {}

  arrow::csv::InvalidRowResult OnInvalidRow(const arrow::csv::InvalidRow& row);

  RowProblems* problems_;
  ByteSource source_;
  TextFormat format_;
  std::shared_ptr<LineStream> lines_;
  arrow::Status invalid_row_;  // what ended the reading, where that is a wrong row
  std::shared_ptr<arrow::csv::StreamingReader> reader_;
};

}  // namespace coden::importing
