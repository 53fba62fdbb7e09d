#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/result.h>

#include "coden/base/operator.h"
#include "coden/import/import.h"
#include "import/column_choice_internal.h"
#include "import/field_values_internal.h"
#include "import/row_problems_internal.h"

namespace coden::importing {

/// What the first rows decide for all: one file has one kind of ids, and so on.
struct ValueKinds {
  std::optional<IdKind> ids;
  std::optional<TimeKind> times;
  std::optional<IdKind> labels;
};

struct RowConverterOptions {
  ColumnChoice columns;
  ValueKinds kinds;  ///< what is known before the first row
  std::optional<double> time_scale;
  bool must_rise = true;  ///< times that fall are an error
  /// src and dst are two sets of ids: whole numbers start at 0, strings become u12, i7.
  bool bipartite = false;
};

/// Turn rows of text into rows of values, or report what is wrong with them.
class RowConverter {
 public:
  /// `names` are those of the columns in messages, by their places.
  RowConverter(RowConverterOptions options, std::vector<std::string> names,
               RowProblems* problems);

  /// The columns of the text to read, in the order in which Convert takes them.
  std::vector<int> text_columns() const;

  /// Rows with the columns src and, where they were chosen, dst, time (int64 in every
  /// case), op, label and x. The first call settles the kinds.
  arrow::Result<BatchPtr> Convert(const arrow::RecordBatch& text);

  const ValueKinds& kinds() const { return options_.kinds; }
  /// The first id that made all ids strings; empty where that was not so.
  const std::string& odd_id() const { return odd_id_; }
  /// Of whole numbers; -1 before the first.
  std::int64_t largest_src() const { return largest_src_; }
  std::int64_t largest_dst() const { return largest_dst_; }

 private:
  struct Row;

  arrow::Status Settle(const arrow::RecordBatch& text);
  arrow::Result<bool> ParseRow(const arrow::RecordBatch& text, std::int64_t row,
                               Row* out);
  arrow::Status CheckOrder(std::int64_t line, EventTime time);
  std::string NameOf(int column) const;
  SchemaPtr MakeSchema() const;

  RowConverterOptions options_;
  std::vector<std::string> names_;
  RowProblems* problems_;
  SchemaPtr schema_;
  std::string odd_id_;
  std::int64_t num_rows_ = 0;
  EventTime last_time_ = 0;
  std::int64_t largest_src_ = -1;
  std::int64_t largest_dst_ = -1;
};

}  // namespace coden::importing
