#include "import/row_converter_internal.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "coden/base/error.h"

namespace coden::importing {

namespace {

constexpr RowRule kNegativeId = {"negative id",
                                 "ids of users and items must be whole numbers from 0; "
                                 "`--ids string` takes all ids as text"};

std::string_view Field(const arrow::RecordBatch& text, int place, std::int64_t row) {
  const auto& column = static_cast<const arrow::BinaryArray&>(*text.column(place));
  const std::string_view raw = column.GetView(row);
  const std::string_view field = Trimmed(raw);
  // Quotes after a blank are part of the value by the rules of CSV, and never meant so.
  const bool late_quotes = raw.starts_with(' ') && field.size() > 1 &&
                           field.starts_with('"') && field.ends_with('"');
  return late_quotes ? Trimmed(field.substr(1, field.size() - 2)) : field;
}

std::shared_ptr<arrow::DataType> TypeOf(IdKind kind) {
  return kind == IdKind::kInteger ? arrow::int64() : arrow::utf8();
}

// A column of whole numbers or strings that is being built.
class KindBuilder {
 public:
  KindBuilder(IdKind kind, std::string prefix) : kind_(kind), text_(std::move(prefix)) {
    prefix_size_ = text_.size();
  }

  arrow::Status Append(std::int64_t number, std::string_view text) {
    if (kind_ == IdKind::kInteger) return numbers_.Append(number);
    text_.resize(prefix_size_);
    text_ += text;
    return strings_.Append(text_);
  }
  arrow::Result<std::shared_ptr<arrow::Array>> Finish() {
    return kind_ == IdKind::kInteger ? numbers_.Finish() : strings_.Finish();
  }

 private:
  IdKind kind_;
  std::string text_;
  std::size_t prefix_size_ = 0;
  arrow::Int64Builder numbers_;
  arrow::StringBuilder strings_;
};

}  // namespace

struct RowConverter::Row {
  std::int64_t src = 0;
  std::int64_t dst = 0;
  EventTime time = 0;
  std::int8_t op = 1;
  std::int64_t label = 0;
  std::vector<float> features;
  // What strings are made of.
  std::string_view src_text, dst_text, label_text;
};

RowConverter::RowConverter(RowConverterOptions options, std::vector<std::string> names,
                           RowProblems* problems)
    : options_(std::move(options)), names_(std::move(names)), problems_(problems) {}

std::vector<int> RowConverter::text_columns() const {
  const ColumnChoice& columns = options_.columns;
  std::vector<int> chosen;
  for (const int column :
       {columns.src, columns.dst, columns.time, columns.op, columns.label}) {
    if (column >= 0) chosen.push_back(column);
  }
  chosen.insert(chosen.end(), columns.features.begin(), columns.features.end());
  return chosen;
}

std::string RowConverter::NameOf(int column) const {
  const bool named =
      static_cast<std::size_t>(column) < names_.size() && !names_[column].empty();
  return named ? names_[column] : std::to_string(column + 1);
}

SchemaPtr RowConverter::MakeSchema() const {
  const ColumnChoice& columns = options_.columns;
  arrow::FieldVector fields;
  const auto add = [&](const char* name, const std::shared_ptr<arrow::DataType>& type) {
    fields.push_back(arrow::field(name, type, /*nullable=*/false));
  };
  add("src", TypeOf(options_.kinds.ids.value_or(IdKind::kInteger)));
  if (columns.dst != kNoColumn)
    add("dst", TypeOf(options_.kinds.ids.value_or(IdKind::kInteger)));
  add("time", arrow::int64());
  if (columns.op != kNoColumn) add("op", arrow::int8());
  if (columns.label != kNoColumn)
    add("label", TypeOf(options_.kinds.labels.value_or(IdKind::kInteger)));
  if (!columns.features.empty()) {
    const auto item = arrow::field("element", arrow::float32(), /*nullable=*/false);
    add("x",
        arrow::fixed_size_list(item, static_cast<std::int32_t>(columns.features.size())));
  }
  return arrow::schema(std::move(fields));
}

arrow::Status RowConverter::Settle(const arrow::RecordBatch& text) {
  const ColumnChoice& columns = options_.columns;
  ValueKinds& kinds = options_.kinds;
  int place = 1;
  std::vector<int> id_places = {place++};
  if (columns.dst != kNoColumn) id_places.push_back(place++);
  if (!kinds.ids) {
    kinds.ids = IdKind::kInteger;
    for (std::int64_t row = 0; row < text.num_rows() && odd_id_.empty(); ++row) {
      for (const int id_place : id_places) {
        const auto field = Field(text, id_place, row);
        if (!field.empty() && !IsInteger(field)) odd_id_ = field;
      }
    }
    if (!odd_id_.empty()) kinds.ids = IdKind::kString;
  }
  if (columns.time >= 0) {
    const int time_place = place++;
    for (std::int64_t row = 0; row < text.num_rows() && !kinds.times; ++row) {
      const auto field = Field(text, time_place, row);
      if (IsNumber(field)) kinds.times = TimeKind::kNumber;
      if (IsDate(field)) kinds.times = TimeKind::kDate;
    }
    // Where no value is either, the rule for dates names both.
    if (!kinds.times) kinds.times = TimeKind::kDate;
  } else {
    kinds.times = TimeKind::kNumber;
  }
  if (options_.time_scale && *kinds.times == TimeKind::kDate) {
    return UsageError("`time-scale` is for times that are numbers; those of ",
                      problems_->name(), " are dates");
  }
  if (columns.op != kNoColumn) ++place;
  if (columns.label != kNoColumn && !kinds.labels) {
    kinds.labels = IdKind::kInteger;
    for (std::int64_t row = 0; row < text.num_rows(); ++row) {
      const auto field = Field(text, place, row);
      if (!field.empty() && !IsNumber(field)) kinds.labels = IdKind::kString;
    }
  }
  schema_ = MakeSchema();
  return arrow::Status::OK();
}

// Nothing is wrong with the row where this returns true; false where it is dropped.
arrow::Result<bool> RowConverter::ParseRow(const arrow::RecordBatch& text,
                                           std::int64_t row, Row* out) {
  const ColumnChoice& columns = options_.columns;
  const ValueKinds& kinds = options_.kinds;
  int place = 1;
  int column = kNoColumn;
  std::string_view field;
  const auto next = [&](int chosen) {
    column = chosen;
    field = Field(text, place++, row);
    return field;
  };
  const auto parse_id = [&](std::int64_t* id) -> Broken {
    if (Broken broken = ParseId(field, *kinds.ids, id)) return broken;
    const bool negative = options_.bipartite && *kinds.ids == IdKind::kInteger && *id < 0;
    return negative ? Broken(kNegativeId) : Broken();
  };
  const auto parse = [&]() -> Broken {
    out->src_text = next(columns.src);
    if (Broken broken = parse_id(&out->src)) return broken;
    if (columns.dst != kNoColumn) {
      out->dst_text = next(columns.dst);
      if (Broken broken = parse_id(&out->dst)) return broken;
    }
    out->time = num_rows_;
    if (columns.time >= 0) {
      next(columns.time);
      if (Broken broken =
              ParseTime(field, *kinds.times, options_.time_scale, &out->time)) {
        return broken;
      }
    }
    if (columns.op != kNoColumn) {
      next(columns.op);
      if (Broken broken = ParseOp(field, &out->op)) return broken;
    }
    if (columns.label != kNoColumn) {
      out->label_text = next(columns.label);
      if (Broken broken = ParseLabel(field, *kinds.labels, &out->label)) return broken;
    }
    for (std::size_t i = 0; i < columns.features.size(); ++i) {
      next(columns.features[i]);
      if (Broken broken = ParseFeature(field, &out->features[i])) return broken;
    }
    return std::nullopt;
  };
  const Broken broken = parse();
  if (!broken) return true;
  const auto& lines = static_cast<const arrow::Int64Array&>(*text.column(0));
  ARROW_RETURN_NOT_OK(
      problems_->Report(lines.Value(row), NameOf(column), *broken, field));
  return false;
}

arrow::Status RowConverter::CheckOrder(std::int64_t line, EventTime time) {
  if (options_.must_rise && time < last_time_) {
    return InputError(problems_->name(), ", line ", line,
                      ": times must not fall from row to row; `--sort` sorts the rows: ",
                      time, " after ", last_time_);
  }
  last_time_ = time;
  return arrow::Status::OK();
}

arrow::Result<BatchPtr> RowConverter::Convert(const arrow::RecordBatch& text) {
  if (schema_ == nullptr) ARROW_RETURN_NOT_OK(Settle(text));
  const ColumnChoice& columns = options_.columns;
  const auto& lines = static_cast<const arrow::Int64Array&>(*text.column(0));
  KindBuilder src(options_.kinds.ids.value_or(IdKind::kInteger),
                  options_.bipartite ? "u" : "");
  KindBuilder dst(options_.kinds.ids.value_or(IdKind::kInteger),
                  options_.bipartite ? "i" : "");
  KindBuilder label(options_.kinds.labels.value_or(IdKind::kInteger), "");
  arrow::Int64Builder time;
  arrow::Int8Builder op;
  std::vector<float> features;
  Row row;
  row.features.resize(columns.features.size());
  std::int64_t num_rows = 0;
  for (std::int64_t i = 0; i < text.num_rows(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const bool good, ParseRow(text, i, &row));
    if (!good) continue;
    ARROW_RETURN_NOT_OK(CheckOrder(lines.Value(i), row.time));
    ARROW_RETURN_NOT_OK(src.Append(row.src, row.src_text));
    ARROW_RETURN_NOT_OK(time.Append(row.time));
    if (columns.dst != kNoColumn) ARROW_RETURN_NOT_OK(dst.Append(row.dst, row.dst_text));
    if (columns.op != kNoColumn) ARROW_RETURN_NOT_OK(op.Append(row.op));
    if (columns.label != kNoColumn) {
      ARROW_RETURN_NOT_OK(label.Append(row.label, row.label_text));
    }
    features.insert(features.end(), row.features.begin(), row.features.end());
    largest_src_ = std::max(largest_src_, row.src);
    largest_dst_ = std::max(largest_dst_, row.dst);
    ++num_rows;
    ++num_rows_;
  }
  arrow::ArrayVector arrays;
  ARROW_ASSIGN_OR_RAISE(arrays.emplace_back(), src.Finish());
  if (columns.dst != kNoColumn) {
    ARROW_ASSIGN_OR_RAISE(arrays.emplace_back(), dst.Finish());
  }
  ARROW_ASSIGN_OR_RAISE(arrays.emplace_back(), time.Finish());
  if (columns.op != kNoColumn) {
    ARROW_ASSIGN_OR_RAISE(arrays.emplace_back(), op.Finish());
  }
  if (columns.label != kNoColumn) {
    ARROW_ASSIGN_OR_RAISE(arrays.emplace_back(), label.Finish());
  }
  if (!columns.features.empty()) {
    const auto num_floats = static_cast<std::int64_t>(features.size());
    arrays.push_back(std::make_shared<arrow::FixedSizeListArray>(
        schema_->field(schema_->num_fields() - 1)->type(), num_rows,
        std::make_shared<arrow::FloatArray>(
            num_floats, arrow::Buffer::FromVector(std::move(features)))));
  }
  return arrow::RecordBatch::Make(schema_, num_rows, std::move(arrays));
}

}  // namespace coden::importing
