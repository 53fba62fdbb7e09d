// An edge log: any bytes as a Parquet file, and files made of bytes whose columns have
// types, nulls, row groups and encodings of every kind.
//
// Whether the log is read is decided by rules written down here once more: the events
// are then the rows, each with its ids, its time and what it does, and otherwise the
// error is one of the input. `coden validate` agrees in either case.

#include <algorithm>
#include <limits>
#include <optional>
#include <variant>

#include "array_maker.h"
#include "bytes.h"
#include "check.h"
#include "coden/read/edge_log.h"
#include "coden/read/event_batch.h"
#include "coden/read/validation.h"
#include "parquet_maker.h"
#include "scratch.h"

namespace coden::fuzz {

namespace {

constexpr int kMostRows = 48;

/// A value as the tool understands it; nothing: the rules do not allow it.
using Value = std::variant<std::monostate, std::int64_t, std::string>;

bool IsWholeNumber(const arrow::DataType& type) {
  return arrow::is_integer(type.id()) || arrow::is_decimal(type.id());
}

const arrow::DataType& Decoded(const arrow::DataType& type) {
  if (type.id() != arrow::Type::DICTIONARY) return type;
  return *static_cast<const arrow::DictionaryType&>(type).value_type();
}

bool IsIdType(const arrow::DataType& type) {
  return IsWholeNumber(Decoded(type)) || IsText(type);
}

bool IsTimeType(const arrow::DataType& type) {
  using arrow::Type;
  return IsWholeNumber(type) || type.id() == Type::TIMESTAMP ||
         type.id() == Type::DATE32 || type.id() == Type::DATE64;
}

bool IsOpType(const arrow::DataType& type) {
  return IsIdType(type) || type.id() == arrow::Type::BOOL;
}

/// Read a cell by the text that Arrow shows it as, which goes another way than the casts
/// of the reader.
Value ValueOf(const arrow::Scalar& scalar) {
  if (!scalar.is_valid) return {};
  using arrow::Type;
  switch (scalar.type->id()) {
    case Type::DICTIONARY:
      return ValueOf(*static_cast<const arrow::DictionaryScalar&>(scalar)
                          .GetEncodedValue()
                          .ValueOrDie());
    case Type::DATE32:
      return std::int64_t{static_cast<const arrow::Date32Scalar&>(scalar).value};
    case Type::DATE64:
      return static_cast<const arrow::Date64Scalar&>(scalar).value;
    case Type::TIMESTAMP:
      return static_cast<const arrow::TimestampScalar&>(scalar).value;
    case Type::BOOL:
      return std::int64_t{static_cast<const arrow::BooleanScalar&>(scalar).value ? 1
                                                                                 : -1};
    default:
      break;
  }
  std::string text = scalar.ToString();
  if (IsText(*scalar.type)) {
    return std::string(
        std::string_view(*static_cast<const arrow::BaseBinaryScalar&>(scalar).value));
  }
  if (!IsWholeNumber(*scalar.type)) return {};
  // A decimal may have zeros behind its point, or an exponent.
  const std::size_t point = text.find('.');
  if (point != std::string::npos &&
      text.find_first_not_of('0', point + 1) == std::string::npos) {
    text.erase(point);
  }
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  if (errno != 0 || *end != '\0') return {};
  return std::int64_t{number};
}

struct Row {
  Value src, dst;
  EventTime time = 0;
  bool inserts = true;
};

/// What the log says, by the rules; nothing where it breaks one.
std::optional<std::vector<Row>> Understand(const arrow::Table& table, EventMode events) {
  const auto src = table.GetColumnByName("src");
  const auto dst = table.GetColumnByName("dst");
  const auto time = table.GetColumnByName("time");
  const auto op = table.GetColumnByName("op");
  const bool is_signed = events == EventMode::kSigned;
  if (!src || !dst || !time || (is_signed && !op)) return std::nullopt;
  if (!IsIdType(*src->type()) || !IsIdType(*dst->type()) || !IsTimeType(*time->type()) ||
      (is_signed && !IsOpType(*op->type())) ||
      IsText(*src->type()) != IsText(*dst->type()) || table.num_rows() == 0) {
    return std::nullopt;
  }
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < table.num_rows(); ++i) {
    Row row{ValueOf(*src->GetScalar(i).ValueOrDie()),
            ValueOf(*dst->GetScalar(i).ValueOrDie())};
    const Value at = ValueOf(*time->GetScalar(i).ValueOrDie());
    if (row.src.index() == 0 || row.dst.index() == 0 || at.index() != 1) {
      return std::nullopt;
    }
    row.time = std::get<std::int64_t>(at);
    if (row.time < 0 || (!rows.empty() && row.time < rows.back().time)) {
      return std::nullopt;
    }
    if (is_signed) {
      const Value kind = ValueOf(*op->GetScalar(i).ValueOrDie());
      row.inserts =
          kind == Value(std::int64_t{1}) || kind == Value("1") || kind == Value("insert");
      const bool deletes = kind == Value(std::int64_t{-1}) || kind == Value("-1") ||
                           kind == Value("delete");
      if (!row.inserts && !deletes) return std::nullopt;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The events of a log, read as a run reads it.
arrow::Result<std::vector<Row>> ReadLog(const Settings& settings, std::int64_t num_rows) {
  const InputOptions& input = settings.input;
  ARROW_ASSIGN_OR_RAISE(const EdgeLog log, EdgeLog::Open(input, settings.graph.events));
  if (num_rows >= 0) {
    FUZZ_CHECK(log.num_before + log.num_rows + log.num_after == num_rows,
               "rows before, in and after the range do not add up");
  }
  ARROW_ASSIGN_OR_RAISE(const auto reader, log.Scan(input.batch_rows));
  ARROW_ASSIGN_OR_RAISE(const auto nodes, NodeIdMap::Make(log.id_type));
  EventReader events(input.edges, settings.graph.events, *nodes,
                     {.first_row = log.num_before});
  ARROW_RETURN_NOT_OK(events.Bind(reader->schema()).status());
  std::vector<EdgeEvent> found;
  const auto take = [&](const BatchPtr& batch) {
    const EventView view(*batch);
    for (std::int64_t i = 0; i < view.size(); ++i) found.push_back(view[i]);
    return arrow::Status::OK();
  };
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) break;
    FUZZ_CHECK(batch->num_rows() > 0 && batch->num_rows() <= input.batch_rows,
               "a batch of " + std::to_string(batch->num_rows()) + " rows");
    ARROW_RETURN_NOT_OK(events.Push(batch, take));
  }
  ARROW_RETURN_NOT_OK(events.Finish(take));
  // A damaged file may have fewer rows than its footer says, and is then refused.
  FUZZ_CHECK(std::ssize(found) == log.num_rows,
             std::to_string(found.size()) + " events of " + std::to_string(log.num_rows));
  ARROW_ASSIGN_OR_RAISE(const EventTime last, log.LastTime());
  FUZZ_CHECK(last == found.back().time, "the last time is another one");
  const auto ids = nodes->Ids(0, nodes->size()).ValueOrDie();
  std::vector<Row> rows;
  for (const EdgeEvent& event : found) {
    rows.push_back({ValueOf(*ids->GetScalar(event.src).ValueOrDie()),
                    ValueOf(*ids->GetScalar(event.dst).ValueOrDie()), event.time,
                    event.kind != EventKind::kDelete});
  }
  return rows;
}

bool IsValid(const Settings& settings) {
  SilentProgress progress;
  const auto problems = ValidateInputs(settings, {&progress});
  FUZZ_CHECK(problems.ok(), problems.status().ToString());
  return std::none_of(problems->begin(), problems->end(),
                      [](const InputProblem& problem) { return problem.fatal; });
}

std::shared_ptr<arrow::Table> MakeLog(Bytes& bytes) {
  static const auto types = ColumnTypes();
  const int num_rows = bytes.Below(kMostRows + 1);
  const bool sorted = bytes.Below(4) != 0;
  const bool nulls = bytes.Below(4) == 0;
  const bool same_ids = bytes.Below(4) != 0;
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  std::shared_ptr<arrow::DataType> ids;
  for (const char* const name : {"src", "dst", "time", "op"}) {
    // Mostly the usual types: a log with one odd column is as good as with four.
    const auto usual = std::string_view(name) == "op" && bytes.Flag() ? 1 : 0;
    auto type =
        types[bytes.Flag()
                  ? static_cast<std::size_t>(bytes.Below(static_cast<int>(types.size())))
                  : usual];
    if (std::string_view(name) == "src") ids = type;
    if (std::string_view(name) == "dst" && same_ids) type = ids;
    std::vector<std::optional<std::int64_t>> numbers;
    for (int row = 0; row < num_rows; ++row) {
      numbers.emplace_back(bytes.Integer());
      if (nulls && bytes.Below(8) == 0) numbers.back().reset();
    }
    if (std::string_view(name) == "time" && sorted) {
      for (auto& number : numbers)
        number = number ? std::max<std::int64_t>(*number, 0) : 0;
      std::sort(numbers.begin(), numbers.end());
    }
    if (std::string_view(name) == "op" && bytes.Flag()) {
      for (auto& number : numbers) {
        if (number) number = IsText(*type) ? *number & 3 : (*number & 1) * 2 - 1;
      }
    }
    if (bytes.Below(32) == 0) continue;
    columns.push_back(MakeArray(type, numbers));
    fields.push_back(
        arrow::field(bytes.Below(64) == 0 ? "src" : name, columns.back()->type()));
  }
  return arrow::Table::Make(arrow::schema(fields), columns, num_rows);
}

/// `input.from` and `input.until` leave the rows that a plain look at the times leaves.
void CheckRange(Settings settings, const std::vector<Row>& rows, Bytes& bytes) {
  const EventTime from = rows[static_cast<std::size_t>(bytes.Byte()) % rows.size()].time;
  const EventTime width = std::max<EventTime>(bytes.Integer() % 64, 1);
  if (from > std::numeric_limits<EventTime>::max() - width) return;
  const EventTime until = from + width;
  settings.input.from = std::to_string(from);
  settings.input.until = std::to_string(until);
  std::vector<Row> expected;
  for (const Row& row : rows) {
    if (row.time >= from && row.time < until) expected.push_back(row);
  }
  const auto read = ReadLog(settings, std::ssize(rows));
  FUZZ_CHECK(read.ok(), read.status().ToString());
  FUZZ_CHECK(read->size() == expected.size(), "the range has other rows");
  for (std::size_t i = 0; i < expected.size(); ++i) {
    FUZZ_CHECK((*read)[i].time == expected[i].time && (*read)[i].src == expected[i].src,
               "the range has another row " + std::to_string(i));
  }
}

void CheckMade(Settings settings, const Scratch& scratch, Bytes& bytes) {
  const auto made = MakeLog(bytes);
  const auto file = MakeParquet(*made, bytes);
  if (!file) return;
  settings.input.edges = scratch.Write("edges.parquet", *file);
  const auto table = ReadBack(*file);
  const auto expected = Understand(*table, settings.graph.events);
  const auto read = ReadLog(settings, made->num_rows());
  FUZZ_CHECK(read.ok() == expected.has_value(),
             "read: " + read.status().ToString() + "\n" + table->ToString());
  FUZZ_CHECK(
      IsValid(settings) == read.ok(),
      "validate disagrees with: " + read.status().ToString() + "\n" + table->ToString());
  if (!read.ok()) {
    FUZZ_CHECK(IsPlain(read.status(), Fault::kInput), read.status().ToString());
    return;
  }
  FUZZ_CHECK(read->size() == expected->size(), "rows are missing");
  for (std::size_t i = 0; i < read->size(); ++i) {
    const Row& a = (*read)[i];
    const Row& b = (*expected)[i];
    const bool same_kind =
        settings.graph.events != EventMode::kSigned || a.inserts == b.inserts;
    FUZZ_CHECK(a.src == b.src && a.dst == b.dst && a.time == b.time && same_kind,
               "row " + std::to_string(i) + " is another one\n" + table->ToString());
  }
  CheckRange(settings, *expected, bytes);
}

}  // namespace

}  // namespace coden::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coden;
  static const fuzz::Scratch scratch;
  fuzz::Bytes bytes(data, size);
  Settings settings;
  settings.graph.events =
      bytes.Pick(std::array{EventMode::kInsert, EventMode::kToggle, EventMode::kSigned});
  settings.graph.lenient = true;  // deletions are not the reader's business
  settings.input.random_features = 1;
  const bool raw = bytes.Below(8) == 7;
  settings.input.batch_rows = 1 + bytes.Below(50);
  if (!raw) {
    fuzz::CheckMade(std::move(settings), scratch, bytes);
    return 0;
  }
  settings.input.edges = scratch.Write("edges.parquet", bytes.Rest());
  const auto read = fuzz::ReadLog(settings, /*num_rows=*/-1);
  FUZZ_CHECK(read.ok() || fuzz::IsPlain(read.status(), Fault::kInput) ||
                 fuzz::IsPlain(read.status(), Fault::kResources),
             read.status().ToString());
  FUZZ_CHECK(fuzz::IsValid(settings) == read.ok(),
             "validate disagrees with: " + read.status().ToString());
  return 0;
}
