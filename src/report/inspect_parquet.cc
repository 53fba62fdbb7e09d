#include <algorithm>
#include <limits>
#include <optional>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/read/parquet_source.h"
#include "coden/settings/input_options.h"
#include "read/columns_internal.h"
#include "read/input_schemas_internal.h"
#include "report/inspect_internal.h"
#include "settings/setting_value_internal.h"
#include "store/parquet_limits_internal.h"

namespace coden {

namespace {

constexpr std::string_view kPrefix = "coden.";
constexpr char kParameters[] = "coden.parameters";
constexpr char kSnapshotTime[] = "coden.snapshot_time";
constexpr std::int64_t kBatchRows = 131072;

struct TimeRange {
  EventTime first = std::numeric_limits<EventTime>::max();
  EventTime last = std::numeric_limits<EventTime>::min();

  void Add(EventTime low, EventTime high) {
    first = std::min(first, low);
    last = std::max(last, high);
  }
  bool empty() const { return first > last; }
};

// What the footers tell.
struct Footers {
  std::int64_t row_groups = 0;
  std::int64_t bytes = 0;
  std::shared_ptr<const arrow::KeyValueMetadata> metadata;  // of the first file
  std::optional<TimeRange> times =
      TimeRange{};  // nothing where a row group does not tell
};

// The range of column `leaf` in one row group; nothing where the footer has none.
std::optional<TimeRange> RangeOf(const parquet::RowGroupMetaData& group, int leaf) {
  const auto statistics = group.ColumnChunk(leaf)->statistics();
  if (statistics == nullptr || !statistics->HasMinMax()) return std::nullopt;
  TimeRange range;
  if (statistics->physical_type() == parquet::Type::INT64) {
    const auto& typed = static_cast<const parquet::Int64Statistics&>(*statistics);
    range.Add(typed.min(), typed.max());
  } else if (statistics->physical_type() == parquet::Type::INT32) {
    const auto& typed = static_cast<const parquet::Int32Statistics&>(*statistics);
    range.Add(typed.min(), typed.max());
  } else {
    return std::nullopt;
  }
  return range;
}

arrow::Status ReadFooter(const ParquetSource& source, const ParquetSource::File& file,
                         const std::string& time_column, Footers* footers) {
  ARROW_ASSIGN_OR_RAISE(auto input, source.OpenFile(file));
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::move(input), UntrustedReaderProperties()));
  footers->bytes += file.size;
  // Parquet reports a damaged footer by throwing; the fence is here.
  try {
    const auto metadata = builder.raw_reader()->metadata();
    if (footers->metadata == nullptr) footers->metadata = metadata->key_value_metadata();
    footers->row_groups += metadata->num_row_groups();
    const int leaf = metadata->schema()->ColumnIndex(time_column);
    for (int i = 0; i < metadata->num_row_groups() && footers->times; ++i) {
      const auto group = metadata->RowGroup(i);
      if (group->num_rows() == 0) continue;
      const auto range = leaf < 0 ? std::nullopt : RangeOf(*group, leaf);
      if (range) {
        footers->times->Add(range->first, range->last);
      } else {
        footers->times.reset();
      }
    }
  } catch (const std::exception& exception) {
    return arrow::Status::Invalid(exception.what());
  }
  return arrow::Status::OK();
}

arrow::Result<TimeRange> ScanTimes(const ParquetSource& source,
                                   const std::string& time_column) {
  // Whether the times are allowed is for the validator to say.
  const OnBreach ignore = [](const Breach&) { return arrow::Status::OK(); };
  TimeRange range;
  ARROW_ASSIGN_OR_RAISE(const auto reader, source.Scan({time_column}, kBatchRows));
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) return range;
    ARROW_ASSIGN_OR_RAISE(const auto times,
                          ReadTimes(batch->column(0), {time_column, 0, ignore}));
    for (std::int64_t row = 0; row < times->length(); ++row) {
      if (times->IsValid(row)) range.Add(times->Value(row), times->Value(row));
    }
  }
}

// What the columns say it is, by their usual names.
std::string KindOf(const arrow::Schema& schema, const Footers& footers) {
  const InputOptions names;
  const auto has = [&schema](const std::string& name) {
    return schema.GetFieldByName(name) != nullptr;
  };
  if (footers.metadata != nullptr && footers.metadata->Contains(kSnapshotTime)) {
    return "snapshot";
  }
  if (has(names.src) && has(names.dst) && has(names.time)) return "edge log";
  if (has(names.node) && has(names.feature)) {
    return has(names.time) ? "feature updates" : "features";
  }
  if (has("predicted")) return "predictions";
  if (has("micro_f1")) return "metrics";
  if (has(names.node) && has(names.label)) return "labels";
  return "table";
}

ResultsTable ColumnsTable(const arrow::Schema& schema) {
  ResultsTable table;
  table.key = "columns";
  table.title = "Columns";
  table.columns = {{"column", "column"}, {"type", "type"}};
  for (const auto& field : schema.fields()) {
    table.rows.push_back({field->name(), field->type()->ToString()});
  }
  return table;
}

arrow::Status AddTimeRange(const ParquetSource& source, const Footers& footers,
                           const std::string& time_column, FactsTable* facts) {
  TimeRange range;
  if (footers.times) {
    range = *footers.times;
  } else if (IsTimeType(*source.schema()->GetFieldByName(time_column)->type())) {
    ARROW_ASSIGN_OR_RAISE(range, ScanTimes(source, time_column));
  }
  if (range.empty()) return arrow::Status::OK();
  facts->Add("first_time", "first time", range.first);
  facts->Add("last_time", "last time", range.last);
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<Tables> InspectParquet(const std::string& path) {
  const InputOptions names;
  ARROW_ASSIGN_OR_RAISE(const auto source, ParquetSource::Open(path));
  Footers footers;
  for (const auto& file : source->files()) {
    const arrow::Status read = ReadFooter(*source, file, names.time, &footers);
    if (!read.ok()) {
      return WithFault(read, Fault::kInput, "cannot read '" + file.path + "': ");
    }
  }
  ARROW_ASSIGN_OR_RAISE(const std::int64_t rows, source->CountRows());
  const std::string kind = KindOf(*source->schema(), footers);
  FactsTable facts("parquet", "Parquet: " + kind);
  facts.Add("path", "path", MaskCredentials(path));
  facts.Add("kind", "kind", kind);
  facts.Add("files", "files", static_cast<std::int64_t>(source->files().size()));
  facts.Add("rows", "rows", rows);
  facts.Add("row_groups", "row groups", footers.row_groups);
  facts.Add("bytes", "bytes", footers.bytes);
  if (kind == "edge log") {
    ARROW_RETURN_NOT_OK(AddTimeRange(*source, footers, names.time, &facts));
  }
  std::optional<ResultsTable> settings;
  for (std::int64_t i = 0; footers.metadata && i < footers.metadata->size(); ++i) {
    const std::string& key = footers.metadata->key(i);
    if (key == kParameters) {
      settings = SettingsTable(footers.metadata->value(i));
    } else if (key.starts_with(kPrefix)) {
      const std::string name = key.substr(kPrefix.size());
      const std::string& value = footers.metadata->value(i);
      const auto number = setting_value::ParseNumber<std::int64_t>(value);
      const bool is_number = name == "snapshot_time" || name == "dim" || name == "base" ||
                             name == "format_version";
      facts.Add(name, name, is_number && number ? Cell(*number) : Cell(value));
    }
  }
  Tables tables = {facts.Take(), ColumnsTable(*source->schema())};
  if (settings && !settings->rows.empty()) tables.push_back(*std::move(settings));
  return tables;
}

}  // namespace coden
