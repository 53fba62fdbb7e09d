#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <arrow/api.h>

#include "bytes.h"
#include "check.h"
#include "coden/state/saved_graph.h"
#include "coden/store/parquet_file.h"
#include "scratch.h"

namespace coden::fuzz {

inline constexpr NodeId kNodes = 8;
inline constexpr int kColumns = 3;

/// Mostly a node, sometimes a number next to one.
inline std::int32_t NodeNumber(Bytes& bytes) {
  const int number = bytes.Below(64);
  return number < 56 ? number % kNodes
                     : static_cast<std::int32_t>(std::array<std::int64_t, 8>{
                           -1, kNodes, kNodes + 1, INT32_MAX, INT32_MIN, -2, 255,
                           1 << 20}[static_cast<std::size_t>(number - 56)]);
}

template <typename Builder>
std::shared_ptr<arrow::Array> Numbers(int rows, const auto& number) {
  Builder builder;
  for (int row = 0; row < rows; ++row) {
    FUZZ_OK(builder.Append(static_cast<typename Builder::value_type>(number())));
  }
  return builder.Finish().ValueOrDie();
}

/// The columns of a Parquet file.
struct Columns {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;

  void Add(const std::string& name, std::shared_ptr<arrow::Array> array,
           bool nullable = false) {
    fields.push_back(arrow::field(name, array->type(), nullable));
    arrays.push_back(std::move(array));
  }
};

/// The folder of a run whose files are made of bytes.
class StateFiles {
 public:
  StateFiles() : store_(RunStore::Open(scratch_.path()).ValueOrDie()) { Clear(); }

  RunStore& store() const { return *store_; }

  void Clear() {
    scratch_.Clear();
    FUZZ_OK(store_->Prepare());
  }

  /// Any bytes in the place of a file.
  void WriteBytes(std::string_view name, const std::string& bytes) const {
    scratch_.Write(name, bytes);
  }

  void Write(std::string_view name, const Columns& columns, int rows) {
    const auto file = StageParquetFile(
        *store_, name,
        *arrow::RecordBatch::Make(arrow::schema(columns.fields), rows, columns.arrays));
    FUZZ_OK(file.status());
    FUZZ_OK(store_->Move(file->staged, file->path));
  }

  void Place(const std::vector<FileRecord>& files) {
    for (const FileRecord& file : files) FUZZ_OK(store_->Move(file.staged, file.path));
  }

  std::string Contents(std::string_view name) const {
    return store_->ReadText(name).ValueOrDie();
  }

  /// A graph of kNodes nodes: mostly as it must be, with neighbours that rise and, where
  /// it is not directed, every edge once.
  void WriteGraph(Bytes& bytes, const GraphFiles& files, bool directed) {
    const int rows = bytes.Below(kNodes + 2);
    auto ends = std::make_shared<arrow::Int32Builder>();
    arrow::ListBuilder lists(
        arrow::default_memory_pool(), ends,
        arrow::list(arrow::field("element", arrow::int32(), /*nullable=*/false)));
    for (int row = 0; row < rows; ++row) {
      FUZZ_OK(lists.Append());
      const int odd = bytes.Below(16);
      const std::uint8_t neighbours = bytes.Byte();
      for (int end = 0; end < kNodes; ++end) {
        if ((neighbours >> end & 1) != 0 && (odd == 1 || end >= row || directed)) {
          FUZZ_OK(ends->Append(end));
        }
      }
      if (odd == 0) FUZZ_OK(ends->Append(NodeNumber(bytes)));
    }
    Columns columns;
    columns.Add("neighbours", lists.Finish().ValueOrDie());
    columns.Add("present",
                Numbers<arrow::BooleanBuilder>(rows, [&] { return bytes.Flag(); }));
    if (bytes.Below(16) == 0) std::swap(columns.fields[0], columns.fields[1]);
    if (bytes.Below(16) == 0) std::swap(columns.arrays[0], columns.arrays[1]);
    if (columns.fields[0]->type()->Equals(columns.arrays[0]->type())) {
      Write(files.graph, columns, rows);
    }
    if (!bytes.Flag()) return;
    Columns window;
    const int pending = bytes.Below(8);
    const bool in_order = bytes.Below(4) != 0;
    std::int64_t time = 0;
    const auto next = [&](std::int64_t* last) {
      return in_order ? *last += bytes.Below(3) : bytes.Integer();
    };
    std::vector<std::int32_t> low, high;
    for (int i = 0; i < pending; ++i) {
      low.push_back(NodeNumber(bytes));
      high.push_back(NodeNumber(bytes));
      if (in_order && !directed && low.back() > high.back())
        std::swap(low.back(), high.back());
    }
    int row = 0;
    window.Add("src", Numbers<arrow::Int32Builder>(pending, [&] { return low[row++]; }));
    row = 0;
    window.Add("dst", Numbers<arrow::Int32Builder>(pending, [&] { return high[row++]; }));
    window.Add("time",
               Numbers<arrow::Int64Builder>(pending, [&] { return next(&time); }));
    Write(files.window, window, pending);
  }

 private:
  Scratch scratch_;
  std::shared_ptr<RunStore> store_;
};

}  // namespace coden::fuzz
