#include "import/text_table_reader_internal.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/csv/options.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "coden/base/error.h"

namespace coden::importing {

namespace {

constexpr std::int64_t kSampleBytes = 1 << 18;
constexpr std::int32_t kBlockBytes = 2 * kLongestLine;

arrow::Result<std::string> ReadSample(arrow::io::InputStream& stream, bool* whole) {
  std::string sample;
  while (static_cast<std::int64_t>(sample.size()) < kSampleBytes) {
    ARROW_ASSIGN_OR_RAISE(
        const auto buffer,
        stream.Read(kSampleBytes - static_cast<std::int64_t>(sample.size())));
    if (buffer->size() == 0) {
      *whole = true;
      break;
    }
    sample += std::string_view(*buffer);
  }
  if (sample.starts_with("\xef\xbb\xbf")) sample.erase(0, 3);  // a byte-order mark
  return sample;
}

std::string ColumnName(int column) { return "column " + std::to_string(column); }

arrow::Status NamedError(const arrow::Status& status, const std::string& name) {
  if (status.IsCancelled()) return status;
  return WithFault(status, Fault::kInput, "cannot read " + name + ": ");
}

}  // namespace

arrow::Result<std::unique_ptr<TextTableReader>> TextTableReader::Open(
    const std::string& path, char delimiter, HeaderRow header, std::string comments,
    RowProblems* problems, const arrow::StopToken& stop) {
  std::unique_ptr<TextTableReader> reader(new TextTableReader(problems));
  const std::string& name = problems->name();
  ARROW_ASSIGN_OR_RAISE(reader->source_, OpenBytes(path, stop));
  bool whole = false;
  auto sample = ReadSample(*reader->source_.stream, &whole);
  if (!sample.ok()) return NamedError(sample.status(), name);
  if (sample->find('\0') != std::string::npos) {
    return InputError(name, " is not text: it has bytes of value 0");
  }
  const auto lines = RowLines(*sample, whole, comments);
  if (!lines.empty()) reader->format_ = FindFormat(lines, delimiter, header);
  if (lines.size() <= (reader->format_.header ? 1 : 0)) {
    return InputError(
        name, whole
                  ? " has no rows; give at least one"
                  : ": the first 256 KB must have a whole row; is this a table of text?");
  }
  reader->lines_ =
      std::make_shared<LineStream>(*std::move(sample), reader->source_.stream,
                                   reader->format_, std::move(comments), problems);
  return reader;
}

arrow::csv::InvalidRowResult TextTableReader::OnInvalidRow(
    const arrow::csv::InvalidRow& row) {
  // The first field is ours, the number of the line.
  std::int64_t line = 0;
  std::from_chars(row.text.data(), row.text.data() + row.text.size(), line);
  const std::string rule = "a row must have as many fields as the others, " +
                           std::to_string(row.expected_columns - 1) + ", not " +
                           std::to_string(row.actual_columns - 1);
  const std::size_t begin = row.text.find(lines_->delimiter());
  const auto text =
      begin == std::string_view::npos ? std::string_view() : row.text.substr(begin + 1);
  const arrow::Status status =
      problems_->Report(line, {}, {"wrong number of fields", rule}, text);
  if (status.ok()) return arrow::csv::InvalidRowResult::Skip;
  invalid_row_ = status;
  return arrow::csv::InvalidRowResult::Error;
}

arrow::Status TextTableReader::Select(const std::vector<int>& columns) {
  auto read = arrow::csv::ReadOptions::Defaults();
  read.block_size = kBlockBytes;
  read.use_threads = false;
  read.column_names = {"line"};
  for (int column = 0; column < format_.num_fields; ++column) {
    read.column_names.push_back(ColumnName(column));
  }
  auto parse = arrow::csv::ParseOptions::Defaults();
  parse.delimiter = lines_->delimiter();
  parse.quoting = format_.delimiter != kBlanks;
  parse.invalid_row_handler = [this](const auto& row) { return OnInvalidRow(row); };
  auto convert = arrow::csv::ConvertOptions::Defaults();
  convert.include_columns = {"line"};
  convert.column_types["line"] = arrow::int64();
  for (const int column : columns) {
    convert.include_columns.push_back(ColumnName(column));
    convert.column_types[ColumnName(column)] = arrow::binary();
  }
  auto made = arrow::csv::StreamingReader::Make(arrow::io::default_io_context(), lines_,
                                                read, parse, convert);
  if (!made.ok()) {
    return invalid_row_.ok() ? NamedError(made.status(), problems_->name())
                             : invalid_row_;
  }
  reader_ = *std::move(made);
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> TextTableReader::Next() {
  std::shared_ptr<arrow::RecordBatch> batch;
  const arrow::Status status = reader_->ReadNext(&batch);
  if (!status.ok() && !invalid_row_.ok()) return invalid_row_;
  if (!status.ok()) return NamedError(status, problems_->name());
  return batch;
}

}  // namespace coden::importing
