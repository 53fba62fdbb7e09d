#include "read/input_schemas_internal.h"

#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "coden/graph/node_id_map.h"
#include "read/columns_internal.h"
#include "read/vectors_internal.h"

namespace coden {

namespace {

constexpr std::string_view kClassType =
    "a label must be a whole number, a string or a bool; convert the column";
constexpr std::string_view kTimeType =
    "a time must be a whole number or a timestamp; convert the column";
constexpr std::string_view kOpType =
    "an op must be a whole number, a string or a bool; convert the column";
constexpr std::string_view kVectorType =
    "features must be a list of numbers in one column; convert the file";
constexpr std::string_view kOneKind =
    "both ends of an edge must be of one kind, whole numbers or strings; convert one";
constexpr std::string_view kIdKind =
    "node ids must be of the kind that the edge log has; convert the column";
constexpr std::string_view kNoEdges = "the edge log has no rows; give at least one event";
constexpr std::string_view kNoFeatureRows =
    "the features file has no rows; fill it, or use `input.random_features`";
constexpr std::string_view kNoLabels = "there are no rows: nothing to train on";

constexpr std::string_view kTimeUnit =
    "times must be in the unit that the edge log has; convert the column";

// What one step of a time column means. Time zones do not change it.
std::string TimeUnit(const arrow::DataType& type) {
  if (arrow::is_integer(type.id()) || arrow::is_decimal(type.id())) {
    return "whole numbers";
  }
  if (type.id() != arrow::Type::TIMESTAMP) return type.ToString();
  const auto unit = static_cast<const arrow::TimestampType&>(type).unit();
  return arrow::timestamp(unit)->ToString();
}

bool IsOpType(const arrow::DataType& type) {
  return type.id() == arrow::Type::BOOL || NodeIdMap::IdType(type).ok();
}

bool IsIdType(const arrow::DataType& type) { return NodeIdMap::IdType(type).ok(); }

// Find a column and check its type.
class ColumnFinder {
 public:
  ColumnFinder(const arrow::Schema& schema, const OnBreach& on_breach)
      : schema_(schema), on_breach_(on_breach) {}

  arrow::Result<InputColumn> Find(const std::string& name, std::string_view setting,
                                  TypeCheck fits, std::string_view rule) const {
    const auto field = schema_.GetFieldByName(name);
    if (field == nullptr) {
      ARROW_RETURN_NOT_OK(
          on_breach_({name, -1, ColumnRule(schema_, name, setting, fits, rule), {}}));
      return InputColumn{};
    }
    if (!fits(*field->type())) {
      ARROW_RETURN_NOT_OK(
          on_breach_({name, -1, std::string(rule), field->type()->ToString()}));
      return InputColumn{};
    }
    auto id_type = NodeIdMap::IdType(*field->type());
    return InputColumn{name, id_type.ok() ? *id_type : nullptr, field->type()};
  }

 private:
  const arrow::Schema& schema_;
  const OnBreach& on_breach_;
};

arrow::Result<std::int64_t> CountRows(const ParquetSource& source,
                                      std::string_view rule_for_none,
                                      const OnBreach& on_breach) {
  ARROW_ASSIGN_OR_RAISE(const std::int64_t rows, source.CountRows());
  if (rows == 0 && !rule_for_none.empty()) {
    ARROW_RETURN_NOT_OK(on_breach({{}, -1, std::string(rule_for_none), {}}));
  }
  return rows;
}

}  // namespace

bool IsTimeType(const arrow::DataType& type) {
  return arrow::is_integer(type.id()) || arrow::is_decimal(type.id()) ||
         type.id() == arrow::Type::TIMESTAMP || type.id() == arrow::Type::DATE32 ||
         type.id() == arrow::Type::DATE64;
}

arrow::Result<EdgeLogColumns> CheckEdgeLogSchema(const ParquetSource& source,
                                                 const InputOptions& input,
                                                 EventMode events,
                                                 const OnBreach& on_breach) {
  const ColumnFinder finder(*source.schema(), on_breach);
  EdgeLogColumns columns;
  ARROW_ASSIGN_OR_RAISE(
      columns.src, finder.Find(input.src, "input.src", IsIdType, NodeIdMap::kIdRule));
  ARROW_ASSIGN_OR_RAISE(
      columns.dst, finder.Find(input.dst, "input.dst", IsIdType, NodeIdMap::kIdRule));
  ARROW_ASSIGN_OR_RAISE(columns.time,
                        finder.Find(input.time, "input.time", IsTimeType, kTimeType));
  if (events == EventMode::kSigned) {
    ARROW_ASSIGN_OR_RAISE(columns.op,
                          finder.Find(input.op, "input.op", IsOpType, kOpType));
  }
  if (columns.src.usable() && columns.dst.usable() &&
      !columns.src.id_type->Equals(*columns.dst.id_type)) {
    ARROW_RETURN_NOT_OK(on_breach(
        {input.dst, -1, std::string(kOneKind),
         columns.src.id_type->ToString() + " and " + columns.dst.id_type->ToString()}));
    columns.dst = {};
  }
  ARROW_ASSIGN_OR_RAISE(columns.num_rows, CountRows(source, kNoEdges, on_breach));
  return columns;
}

arrow::Result<FeatureColumns> CheckFeatureSchema(
    const ParquetSource& source, const InputOptions& input, FeatureFile kind,
    const std::shared_ptr<arrow::DataType>& id_type, const OnBreach& on_breach) {
  const ColumnFinder finder(*source.schema(), on_breach);
  const bool updates = kind == FeatureFile::kUpdates;
  FeatureColumns columns;
  ARROW_ASSIGN_OR_RAISE(
      columns.node, finder.Find(input.node, "input.node", IsIdType, NodeIdMap::kIdRule));
  if (columns.node.usable() && id_type != nullptr) {
    ARROW_RETURN_NOT_OK(CheckIdKind(columns.node, *id_type, on_breach));
  }
  ARROW_ASSIGN_OR_RAISE(columns.vector, finder.Find(input.feature, "input.feature",
                                                    IsVectorType, kVectorType));
  if (updates) {
    ARROW_ASSIGN_OR_RAISE(columns.time,
                          finder.Find(input.time, "input.time", IsTimeType, kTimeType));
  }
  ARROW_ASSIGN_OR_RAISE(
      columns.num_rows,
      CountRows(source, updates ? std::string_view() : kNoFeatureRows, on_breach));
  return columns;
}

arrow::Result<LabelColumns> CheckLabelSchema(const ParquetSource& source,
                                             const InputOptions& input,
                                             const OnBreach& on_breach) {
  const ColumnFinder finder(*source.schema(), on_breach);
  LabelColumns columns;
  ARROW_ASSIGN_OR_RAISE(
      columns.node, finder.Find(input.node, "input.node", IsIdType, NodeIdMap::kIdRule));
  ARROW_ASSIGN_OR_RAISE(columns.label,
                        finder.Find(input.label, "input.label", IsClassType, kClassType));
  // Booleans and numbers with a point become whole numbers.
  if (columns.label.usable() && columns.label.id_type == nullptr)
    columns.label.id_type = arrow::int64();
  // A name that was set must be there; the log's own name may be.
  const bool named = !input.label_time.empty();
  if (named || !source.schema()->GetAllFieldIndices(input.time).empty()) {
    ARROW_ASSIGN_OR_RAISE(columns.time,
                          finder.Find(named ? input.label_time : input.time,
                                      "input.label_time", IsTimeType, kTimeType));
  }
  ARROW_ASSIGN_OR_RAISE(columns.num_rows, CountRows(source, kNoLabels, on_breach));
  return columns;
}

arrow::Status CheckIdKind(const InputColumn& node, const arrow::DataType& id_type,
                          const OnBreach& on_breach) {
  if (node.id_type->Equals(id_type)) return arrow::Status::OK();
  return on_breach(
      {node.name, -1, std::string(kIdKind),
       node.id_type->ToString() + " here, " + id_type.ToString() + " there"});
}

arrow::Status CheckTimeUnit(const InputColumn& time, const arrow::DataType& log_time,
                            const OnBreach& on_breach) {
  const std::string here = TimeUnit(*time.type);
  const std::string there = TimeUnit(log_time);
  if (here == there) return arrow::Status::OK();
  return on_breach(
      {time.name, -1, std::string(kTimeUnit), here + " here, " + there + " there"});
}

}  // namespace coden
