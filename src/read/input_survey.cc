#include "coden/read/input_survey.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "coden/base/printable.h"
#include "coden/read/parquet_source.h"
#include "read/column_guess_internal.h"
#include "read/columns_internal.h"
#include "read/input_schemas_internal.h"
#include "read/parquet_files_internal.h"
#include "read/problem_list_internal.h"
#include "read/time_index_internal.h"
#include "read/time_limits_internal.h"
#include "read/vectors_internal.h"

namespace coden {

namespace {

using Source = std::unique_ptr<ParquetSource>;

bool IsIdType(const arrow::DataType& type) { return NodeIdMap::IdType(type).ok(); }
bool IsOpType(const arrow::DataType& type) {
  return type.id() == arrow::Type::BOOL || IsIdType(type);
}
// The types of which a table has one column only if that is the time.
bool IsClockType(const arrow::DataType& type) {
  return arrow::is_temporal(type.id()) && IsTimeType(type);
}

std::string Joined(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kShown)
    text += " and " + FormatCount(names.size() - kShown) + " more";
  return text.empty() ? "none" : text;
}

// A name or a string of SQL.
std::string Quoted(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char letter : text) {
    if (letter == quote) quoted += quote;
    quoted += letter;
  }
  return quoted + quote;
}

// The rows of an input as DuckDB reads them: folders such as day=5 are columns.
std::string TableInDuckDb(const ParquetSource& source) {
  std::string path = MaskCredentials(source.path());
  const auto& files = source.files();
  if (files.size() == 1 && path.ends_with(files.front().name)) return Quoted(path, '\'');
  if (path.find_first_of(kGlobSigns) == path.npos) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const bool all_parquet =
        std::all_of(files.begin(), files.end(),
                    [](const auto& file) { return file.name.ends_with(".parquet"); });
    path += all_parquet ? "/**/*.parquet" : "/**/*.parq*";
  }
  return "read_parquet(" + Quoted(path, '\'') + ", hive_partitioning = true)";
}

// The columns of a type, of those that a setting can name.
std::vector<std::string> NamesOf(const arrow::Schema& schema, TypeCheck fits) {
  std::vector<std::string> names;
  for (const auto& field : schema.fields()) {
    const std::string& name = field->name();
    if (Printable(name) == name && fits(*field->type())) names.push_back(name);
  }
  return names;
}

// A column, how it is told, and the setting that names it.
struct Part {
  const char* key;
  const char* what;
  ColumnRole role;
  TypeCheck fits;
  TypeCheck only;  // a type that tells by itself, where one column has it; may be null
};

class Surveyor {
 public:
  Surveyor(const Settings& given, const std::set<std::string>& fixed,
           const RunContext& context)
      : fixed_(fixed), context_(context), input_(survey_.settings.input) {
    survey_.settings = given;
  }

  arrow::Result<InputSurvey> Run() {
    ARROW_ASSIGN_OR_RAISE(edges_, ParquetSource::Open(input_.edges));
    for (auto [path, source] : {std::pair(&input_.features, &features_),
                                std::pair(&input_.feature_updates, &updates_),
                                std::pair(&input_.labels, &labels_)}) {
      if (path->empty()) continue;
      ARROW_ASSIGN_OR_RAISE(*source, ParquetSource::Open(*path));
    }
    ARROW_RETURN_NOT_OK(LookAtEdges());
    ChooseNode();
    ARROW_RETURN_NOT_OK(LookAtFeatures(features_.get(), FeatureFile::kFeatures));
    ARROW_RETURN_NOT_OK(LookAtFeatures(updates_.get(), FeatureFile::kUpdates));
    ARROW_RETURN_NOT_OK(LookAtLabels());
    return std::move(survey_);
  }

 private:
  bool IsFixed(const std::string& key) const { return fixed_.contains(key); }
  bool IsUnknown(const std::string& key) const { return survey_.unknown.contains(key); }
  void Say(std::string key, std::string text) {
    survey_.remarks.push_back({std::move(key), std::move(text)});
  }
  void Doubt(std::string key, std::string text) {
    survey_.remarks.push_back({std::move(key), std::move(text), /*doubt=*/true});
  }
  void Unknown(const std::string& key, std::string text) {
    survey_.unknown.insert(key);
    Doubt(key, std::move(text));
  }
  void TakeProblems(const std::string& key, ProblemList& list) {
    for (const InputProblem& problem : list.Take()) {
      std::string text;
      if (!problem.column.empty()) text = "Column `" + problem.column + "`";
      if (problem.first_row >= 0) {
        text += (text.empty() ? "Row " : ", row ") + std::to_string(problem.first_row);
      }
      Doubt(key, text + (text.empty() ? "" : ": ") + problem.rule + ".");
    }
  }

  void Choose(const Part& part, const arrow::Schema& schema, std::string* name) {
    if (IsFixed(part.key)) return;
    const auto names = NamesOf(schema, part.fits);
    if (const int found = GuessColumn(names, part.role); found != kNoColumn) {
      *name = names[found];
      return;
    }
    if (part.only != nullptr) {
      const auto alone = NamesOf(schema, part.only);
      if (alone.size() == 1) {
        *name = alone.front();
        return;
      }
    }
    Unknown(part.key, std::string("Cannot tell which column has ") + part.what +
                          ". Columns of a type that fits: " + Joined(names) + ".");
  }

  arrow::Status LookAtEdges() {
    const arrow::Schema& schema = *edges_->schema();
    Choose({"input.src", "the source node", ColumnRole::kSource, IsIdType, nullptr},
           schema, &input_.src);
    Choose({"input.dst", "the destination node", ColumnRole::kTarget, IsIdType, nullptr},
           schema, &input_.dst);
    Choose({"input.time", "the time", ColumnRole::kTime, IsTimeType, IsClockType}, schema,
           &input_.time);
    const bool has_op = FindOp(schema);
    ProblemList problems("edges", input_.edges);
    if (IsUnknown("input.src") || IsUnknown("input.dst") || IsUnknown("input.time")) {
      return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(log_, CheckEdgeLogSchema(*edges_, input_, EventMode::kInsert,
                                                   problems.on_breach()));
    std::string facts = FormatCount(log_.num_rows) + " rows";
    if (log_.time.usable() && log_.num_rows > 0) {
      ARROW_ASSIGN_OR_RAISE(const std::string order, LookAtRows(has_op, problems));
      facts += ", " + order;
    }
    Say("input.edges", facts + ".");
    if (log_.src.usable()) {
      Say("input.edges", std::string("Node ids are ") +
                             (arrow::is_integer(log_.src.id_type->id()) ? "whole numbers."
                                                                        : "strings."));
    }
    if (input_.src.starts_with("user") && input_.dst.starts_with("item")) {
      Doubt(
          "input.edges",
          "Users and items are nodes of one graph: no user may have the id of an item.");
    }
    SayUnused(schema, has_op);
    TakeProblems("input.edges", problems);
    return arrow::Status::OK();
  }

  void SayUnused(const arrow::Schema& schema, bool has_op) {
    std::vector<std::string> unused;
    for (const std::string& name : schema.field_names()) {
      const bool used = name == input_.src || name == input_.dst || name == input_.time ||
                        (has_op && name == input_.op);
      if (!used) unused.push_back(name);
    }
    if (!unused.empty()) {
      Say("input.edges", "Columns that are not read: " + Joined(unused) + ".");
    }
  }

  // Whether the log has a column that may say what a row does.
  bool FindOp(const arrow::Schema& schema) {
    if (IsFixed("graph.events")) return false;
    const auto names = NamesOf(schema, IsOpType);
    if (IsFixed("input.op")) {
      return std::find(names.begin(), names.end(), input_.op) != names.end();
    }
    const int found = GuessColumn(names, ColumnRole::kOp);
    if (found != kNoColumn) input_.op = names[found];
    return found != kNoColumn;
  }

  // The order and the range of the times, in words; decides about the operations, too.
  arrow::Result<std::string> LookAtRows(bool has_op, ProblemList& problems) {
    // What the footers tell costs nothing; rows of one row group they do not compare.
    bool sorted = true;
    const auto falls = [&](const Breach& breach) {
      sorted = false;
      return problems.on_breach()(breach);
    };
    ARROW_RETURN_NOT_OK(TimeIndex::Make(*edges_, log_.time.name, falls).status());
    const bool read_times = sorted;
    std::vector<std::string> columns;
    if (read_times) columns.push_back(log_.time.name);
    if (has_op) columns.push_back(input_.op);
    RisingTimes order;
    std::optional<std::pair<EventTime, EventTime>> range;
    std::int64_t num_deletions = 0;
    std::optional<Breach> bad_op;
    const OnBreach note_op = [&](const Breach& breach) {
      if (!bad_op) bad_op = breach;
      return arrow::Status::OK();
    };
    const OnBreach note_fall = falls;
    const auto visit = [&](const arrow::RecordBatch& batch,
                           std::int64_t row) -> arrow::Status {
      if (read_times) {
        ARROW_ASSIGN_OR_RAISE(
            const auto times,
            ReadTimes(batch.column(0), {log_.time.name, row, problems.on_breach()}));
        ARROW_RETURN_NOT_OK(order.Check(*times, {log_.time.name, row, note_fall}));
        for (std::int64_t i = 0; i < times->length(); ++i) {
          if (times->IsNull(i)) continue;
          const EventTime time = times->Value(i);
          if (!range) range = {time, time};
          range = {std::min(range->first, time), std::max(range->second, time)};
        }
      }
      if (has_op) {
        const auto& ops = batch.column(batch.num_columns() - 1);
        ARROW_ASSIGN_OR_RAISE(const auto inserts,
                              ReadOps(ops, {input_.op, row, note_op}));
        num_deletions += std::count(inserts.begin(), inserts.end(), false);
      }
      return arrow::Status::OK();
    };
    ARROW_RETURN_NOT_OK(problems.ForEachBatch(*edges_, columns, input_.batch_rows, 0,
                                              log_.num_rows, context_, visit));
    if (has_op) DecideEvents(bad_op, num_deletions);
    if (!sorted) SayHowToSort();
    std::string text = sorted ? "sorted by time" : "NOT sorted by time";
    if (range) {
      text += "; times from " + ShowTime(range->first, log_.time.type) + " to " +
              ShowTime(range->second, log_.time.type);
    }
    const std::string type = log_.time.type->ToString();
    return text + (arrow::is_temporal(log_.time.type->id()) ? ", a " + type : "");
  }

  void DecideEvents(const std::optional<Breach>& bad_op, std::int64_t num_deletions) {
    const std::string column = "Column `" + input_.op + "`";
    if (bad_op) {
      Doubt("graph.events", column + " is not read, every row inserts an edge: row " +
                                std::to_string(bad_op->row) + ": " + bad_op->Sentence() +
                                ".");
    } else if (num_deletions == 0) {
      Say("graph.events", column + " is not needed: every row inserts an edge.");
    } else {
      survey_.settings.graph.events = EventMode::kSigned;
      Say("graph.events", column + " deletes an edge in " + FormatCount(num_deletions) +
                              " of the rows and inserts one in the others.");
    }
  }

  void SayHowToSort() {
    Doubt(
        "input.edges",
        "The log is not sorted by time, and a run refuses it. Sort it first, such as in "
        "DuckDB: COPY (FROM " +
            TableInDuckDb(*edges_) + " ORDER BY " + Quoted(log_.time.name, '"') +
            ") TO 'sorted.parquet' (FORMAT parquet)");
  }

  // One setting names the node column of every other input.
  void ChooseNode() {
    std::vector<const ParquetSource*> sources;
    for (const Source* source : {&features_, &updates_, &labels_}) {
      if (*source != nullptr) sources.push_back(source->get());
    }
    if (sources.empty() || IsFixed("input.node")) return;
    std::vector<std::string> shared = NamesOf(*sources.front()->schema(), IsIdType);
    std::string each;
    for (const ParquetSource* source : sources) {
      const auto names = NamesOf(*source->schema(), IsIdType);
      std::erase_if(shared, [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) == names.end();
      });
      each += (each.empty() ? "" : " | ") + Joined(names);
    }
    const int found = GuessColumn(shared, ColumnRole::kNode);
    if (found != kNoColumn) {
      input_.node = shared[found];
    } else {
      Unknown("input.node",
              "Cannot tell which column has the node. Features and labels must have one "
              "of the same name. Columns of a type that fits: " +
                  each + ".");
    }
  }

  arrow::Status LookAtFeatures(const ParquetSource* source, FeatureFile kind) {
    if (source == nullptr) return arrow::Status::OK();
    const bool updates = kind == FeatureFile::kUpdates;
    const std::string key = updates ? "input.feature_updates" : "input.features";
    if (!updates || features_ == nullptr) {
      Choose({"input.feature", "the feature vector", ColumnRole::kVector, IsVectorType,
              IsVectorType},
             *source->schema(), &input_.feature);
    }
    if (IsUnknown("input.feature") || IsUnknown("input.node")) return arrow::Status::OK();
    if (updates && IsUnknown("input.time")) return arrow::Status::OK();
    ProblemList problems(updates ? "feature_updates" : "features", source->path());
    ARROW_ASSIGN_OR_RAISE(const auto columns,
                          CheckFeatureSchema(*source, input_, kind, log_.src.id_type,
                                             problems.on_breach()));
    if (columns.time.usable() && log_.time.usable()) {
      ARROW_RETURN_NOT_OK(
          CheckTimeUnit(columns.time, *log_.time.type, problems.on_breach()));
    }
    Say(key, FormatCount(columns.num_rows) + " rows.");
    TakeProblems(key, problems);
    return arrow::Status::OK();
  }

  arrow::Status LookAtLabels() {
    if (labels_ == nullptr) return arrow::Status::OK();
    const arrow::Schema& schema = *labels_->schema();
    const bool has_log_time = schema.GetFieldByName(input_.time) != nullptr;
    if (!IsFixed("input.label_time") && !has_log_time) {
      const auto times = NamesOf(schema, IsTimeType);
      const int found = GuessColumn(times, ColumnRole::kTime);
      if (found != kNoColumn) input_.label_time = times[found];
    }
    Choose({"input.label", "the class", ColumnRole::kLabel, IsClassType, nullptr}, schema,
           &input_.label);
    if (IsUnknown("input.label") || IsUnknown("input.node")) return arrow::Status::OK();
    ProblemList problems("labels", labels_->path());
    ARROW_ASSIGN_OR_RAISE(const auto columns,
                          CheckLabelSchema(*labels_, input_, problems.on_breach()));
    if (columns.node.usable() && log_.src.usable()) {
      ARROW_RETURN_NOT_OK(
          CheckIdKind(columns.node, *log_.src.id_type, problems.on_breach()));
    }
    if (columns.time.usable() && log_.time.usable()) {
      ARROW_RETURN_NOT_OK(
          CheckTimeUnit(columns.time, *log_.time.type, problems.on_breach()));
    }
    Say("input.labels",
        FormatCount(columns.num_rows) + " rows. " +
            (columns.time.usable()
                 ? "A label holds from its `" + columns.time.name + "` on."
                 : "There is no time: labels hold at all times."));
    TakeProblems("input.labels", problems);
    return arrow::Status::OK();
  }

  const std::set<std::string>& fixed_;
  const RunContext& context_;
  InputSurvey survey_;
  InputOptions& input_;  // of the survey
  EdgeLogColumns log_;
  Source edges_, features_, updates_, labels_;
};

}  // namespace

arrow::Result<InputSurvey> SurveyInputs(const Settings& given,
                                        const std::set<std::string>& fixed,
                                        const RunContext& context) {
  return Surveyor(given, fixed, context).Run();
}

}  // namespace coden
