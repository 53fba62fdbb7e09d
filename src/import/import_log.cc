#include "import/import_log_internal.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include <arrow/compute/api.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "import/byte_source_internal.h"
#include "import/row_problems_internal.h"
#include "import/sorted_runs_internal.h"
#include "import/text_table_reader_internal.h"

namespace coden::importing {

namespace {

RowConverterOptions ConverterOptions(const LogImport& import,
                                     const ImportOptions& options, ColumnChoice columns) {
  RowConverterOptions converter;
  converter.columns = std::move(columns);
  converter.kinds = import.kinds;
  if (options.ids == ImportIds::kInteger) converter.kinds.ids = IdKind::kInteger;
  if (options.ids == ImportIds::kString) converter.kinds.ids = IdKind::kString;
  converter.time_scale = options.time_scale;
  converter.must_rise = !options.sort;
  converter.bipartite = import.bipartite;
  return converter;
}

// How far up whole-number ids of items are moved to be apart from those of users.
arrow::Result<std::int64_t> ItemOffset(const RowConverter& converter,
                                       const std::string& name) {
  const std::int64_t offset = converter.largest_src();
  if (offset < 0) return 0;  // there is no row
  if (converter.largest_dst() >= std::numeric_limits<std::int64_t>::max() - offset) {
    return InputError(name, ": the largest ids of users and items must add up to less ",
                      "than 2^63 - 1; `--ids string` takes them as text: ", offset,
                      " and ", converter.largest_dst());
  }
  return offset + 1;
}

arrow::Result<BatchPtr> MoveItems(const BatchPtr& rows, std::int64_t offset) {
  const int column = rows->schema()->GetFieldIndex("dst");
  ARROW_ASSIGN_OR_RAISE(
      const auto moved,
      arrow::compute::Add(rows->column(column),
                          std::make_shared<arrow::Int64Scalar>(offset)));
  return rows->SetColumn(column, rows->schema()->field(column), moved.make_array());
}

// From the text to files: opens the files when the first rows have shown what they hold.
class LogWriter {
 public:
  LogWriter(const LogImport& import, const ImportOptions& options,
            const RowConverter& converter)
      : import_(import), options_(options), converter_(converter) {}

  arrow::Status Write(const BatchPtr& rows) {
    if (rows->num_rows() == 0) return arrow::Status::OK();
    if (files_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(
          files_, LogFiles::Open(
                      rows->schema(),
                      {options_.out, converter_.kinds().times.value_or(TimeKind::kNumber),
                       import_.zero_labels_say_nothing, import_.metadata}));
    }
    return files_->Write(*rows);
  }

  std::unique_ptr<LogFiles> Take() { return std::move(files_); }

 private:
  const LogImport& import_;
  const ImportOptions& options_;
  const RowConverter& converter_;
  std::unique_ptr<LogFiles> files_;
};

void CountLeftOutLabels(const LogFiles& files, const std::string& file,
                        ImportSummary* summary) {
  if (files.label_log() == nullptr) return;
  const auto add = [&](const char* reason, std::int64_t rows) {
    if (rows > 0) summary->dropped.push_back({file, reason, rows, /*first_line=*/0});
  };
  add("label that its node has already", files.label_log()->num_repeated());
  add("label before another of the same time", files.label_log()->num_replaced());
}

std::string ShowTime(EventTime time, TimeKind kind) {
  if (kind == TimeKind::kNumber) return std::to_string(time);
  return arrow::TimestampScalar(time, arrow::TimeUnit::MICRO, "UTC").ToString();
}

}  // namespace

arrow::Status CheckTarget(const ImportOptions& options) {
  if (options.file.empty()) {
    return UsageError("give the file to import, or - for standard input");
  }
  if (options.force) return arrow::Status::OK();
  for (const std::string_view name : kFileNames) {
    const auto path = std::filesystem::path(options.out) / name;
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      return UsageError("'", path.string(),
                        "' is there already; choose another `--out`, or replace it with "
                        "`--force`");
    }
  }
  return arrow::Status::OK();
}

arrow::Result<ImportedLog> ImportLog(const LogImport& import,
                                     const ImportOptions& options,
                                     const RunContext& context, ImportSummary* summary) {
  RowProblems problems(ShownName(import.file), options.on_error);
  const std::string& name = problems.name();
  ARROW_ASSIGN_OR_RAISE(
      const auto reader,
      TextTableReader::Open(import.file, import.delimiter, import.header, import.comments,
                            &problems, context.stop));
  ARROW_ASSIGN_OR_RAISE(const ColumnChoice columns,
                        import.choose(reader->format(), name));
  RowConverter converter(ConverterOptions(import, options, columns),
                         reader->format().names, &problems);
  ARROW_RETURN_NOT_OK(reader->Select(converter.text_columns()));
  LogWriter writer(import, options, converter);
  std::unique_ptr<SortedRuns> store;
  if (options.sort || import.bipartite) {
    SortedRunsOptions runs;
    runs.folder = options.out + "/.import.partial";
    runs.order = options.sort ? RunOrder::kByTime : RunOrder::kAsGiven;
    ARROW_ASSIGN_OR_RAISE(store, SortedRuns::Make(std::move(runs)));
  }

  context.progress->Begin(import.step, "bytes", reader->size());
  while (true) {
    ARROW_RETURN_NOT_OK(context.stop.Poll());
    ARROW_ASSIGN_OR_RAISE(const auto text, reader->Next());
    if (text == nullptr) break;
    if (text->num_rows() == 0) continue;
    ARROW_ASSIGN_OR_RAISE(auto rows, converter.Convert(*text));
    ARROW_RETURN_NOT_OK(store == nullptr ? writer.Write(rows)
                                         : store->Append(std::move(rows)));
    context.progress->Advance(reader->bytes_read());
  }
  if (store != nullptr) {
    const bool moves = import.bipartite && converter.kinds().ids == IdKind::kInteger;
    std::int64_t offset = 0;
    if (moves) {
      ARROW_ASSIGN_OR_RAISE(offset, ItemOffset(converter, name));
    }
    const auto write = [&](BatchPtr rows) -> arrow::Status {
      if (moves) {
        ARROW_ASSIGN_OR_RAISE(rows, MoveItems(rows, offset));
      }
      return writer.Write(rows);
    };
    ARROW_RETURN_NOT_OK(store->Drain(write, context));
    if (moves) {
      context.progress->Note("items have the ids from " + std::to_string(offset) +
                             " on: the largest user id + 1 is added to each");
    }
  }
  ImportedLog log{writer.Take(), converter.kinds(), problems.num_dropped()};
  if (log.files == nullptr) {
    return InputError(name, ": no row is left; dropped: ", log.num_dropped);
  }
  ARROW_RETURN_NOT_OK(log.files->Finish());
  context.progress->End(FormatCount(log.files->num_rows()) + " rows");
  if (!converter.odd_id().empty()) {
    context.progress->Note("ids are strings, because some are not whole numbers: '" +
                           converter.odd_id() + "'");
  }

  const auto described = DescribeColumns(reader->format(), columns, import.file);
  summary->columns.insert(summary->columns.end(), described.begin(), described.end());
  for (DroppedRows& dropped : problems.dropped()) {
    dropped.file = import.file;
    summary->dropped.push_back(std::move(dropped));
  }
  CountLeftOutLabels(*log.files, import.file, summary);
  summary->num_comments += reader->num_comments();
  summary->feature_width += static_cast<int>(columns.features.size());
  summary->has_op = summary->has_op || columns.op != kNoColumn;
  return log;
}

arrow::Status Publish(std::span<const ImportedLog> logs, const ImportOptions& options,
                      const RunContext& context, ImportSummary* summary) {
  const ImportedLog& edges = logs.front();
  summary->num_dropped = edges.num_dropped;
  summary->num_rows = edges.files->num_rows();
  summary->num_nodes = edges.files->num_nodes();
  summary->first_time =
      ShowTime(edges.files->first_time(), edges.kinds.times.value_or(TimeKind::kNumber));
  summary->last_time =
      ShowTime(edges.files->last_time(), edges.kinds.times.value_or(TimeKind::kNumber));
  for (const ImportedLog& log : logs) {
    ARROW_RETURN_NOT_OK(log.files->Close(&summary->files));
  }
  for (const std::string_view name : kFileNames) {
    const std::string path = options.out + "/" + std::string(name);
    const bool written =
        std::any_of(summary->files.begin(), summary->files.end(),
                    [&](const FileRecord& file) { return file.path == path; });
    std::error_code ignored;
    if (!written && std::filesystem::exists(path, ignored)) {
      context.progress->Note("'" + path +
                             "' is of an earlier import and may not fit this one");
    }
  }
  return arrow::Status::OK();
}

}  // namespace coden::importing
