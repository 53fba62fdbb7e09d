#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>

#include "bytes.h"
#include "check.h"
#include "coden/state/history.h"
#include "coden/store/hasher.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "scratch.h"

namespace coden::fuzz {

inline constexpr NodeId kNodes = 8;
inline constexpr int kColumns = 3;
inline constexpr int kSnapshots = 4;

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

  /// Any bytes in the place of a file. Returns its record.
  FileRecord WriteBytes(std::string_view name, const std::string& bytes) const {
    scratch_.Write(name, bytes);
    return {std::string(name), static_cast<std::int64_t>(bytes.size()), 0,
            HashOf(bytes.data(), bytes.size())};
  }

  FileRecord Write(std::string_view name, const Columns& columns, int rows) {
    const auto file = StageParquetFile(
        *store_, name,
        *arrow::RecordBatch::Make(arrow::schema(columns.fields), rows, columns.arrays));
    FUZZ_OK(file.status());
    return Place({*file}).front();
  }

  /// Put staged files in their places. Returns their records.
  std::vector<FileRecord> Place(std::vector<FileRecord> files) {
    for (FileRecord& file : files) {
      FUZZ_OK(store_->Move(file.staged, file.path));
      file.staged.clear();
    }
    return files;
  }

  std::string Contents(std::string_view name) const {
    return store_->ReadText(name).ValueOrDie();
  }

  /// A history of kNodes nodes and kSnapshots snapshots: mostly as it must be, with edges
  /// that come and go in turn and, where it is not directed, have their lower end first.
  /// A whole graph may lie beside the changes.
  std::vector<FileRecord> WriteHistory(Bytes& bytes, bool directed) {
    std::vector<FileRecord> files;
    std::array<std::array<bool, kNodes>, kNodes> present{};
    HistoryRows changes;
    int first = 0;
    for (int snapshot = 0; snapshot < kSnapshots; ++snapshot) {
      for (int src = 0; src < kNodes; ++src) {
        const std::uint8_t targets = bytes.Byte();
        for (int dst = directed ? 0 : src; dst < kNodes; ++dst) {
          if ((targets >> dst & 1) == 0) continue;
          present[src][dst] = !present[src][dst];
          changes.Add(snapshot, src, dst, present[src][dst]);
        }
      }
      if (bytes.Below(16) == 0) {
        changes.Add(bytes.Below(kSnapshots + 1) - 1, NodeNumber(bytes), NodeNumber(bytes),
                    bytes.Flag());
      }
      if (bytes.Below(4) != 0) continue;
      files.push_back(WriteChanges(bytes, first, std::exchange(changes, HistoryRows())));
      first = snapshot + 1;
      HistoryRows graph;
      for (int src = 0; src < kNodes; ++src) {
        for (int dst = 0; dst < kNodes; ++dst)
          if (present[src][dst]) graph.Add(snapshot, src, dst, true);
      }
      if (bytes.Below(16) == 0)
        graph.Add(snapshot, NodeNumber(bytes), NodeNumber(bytes), true);
      files.push_back(Write(RunLayout::HistoryGraph(RunLayout::kHistory, snapshot),
                            graph.ToColumns(/*first=*/1, /*last=*/2), graph.size()));
    }
    if (first < kSnapshots) files.push_back(WriteChanges(bytes, first, changes));
    return files;
  }

  /// Insertions that wait for their expiry: mostly in order.
  void WriteWindow(Bytes& bytes, std::string_view name, bool directed) {
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
    window.Add("source",
               Numbers<arrow::Int32Builder>(pending, [&] { return low[row++]; }));
    row = 0;
    window.Add("target",
               Numbers<arrow::Int32Builder>(pending, [&] { return high[row++]; }));
    window.Add("time",
               Numbers<arrow::Int64Builder>(pending, [&] { return next(&time); }));
    Write(name, window, pending);
  }

 private:
  // Rows of a file of changes.
  class HistoryRows {
   public:
    void Add(int snapshot, int source, int target, bool present) {
      numbers_[0].push_back(snapshot);
      numbers_[1].push_back(source);
      numbers_[2].push_back(target);
      present_.push_back(present);
    }
    int size() const { return static_cast<int>(present_.size()); }
    // Those of HistorySchema from `first` to `last`.
    Columns ToColumns(int first, int last) const {
      Columns columns;
      for (int i = first; i <= last; ++i) {
        std::size_t row = 0;
        if (i < 3) {
          columns.Add(
              HistorySchema()->field(i)->name(),
              Numbers<arrow::Int32Builder>(size(), [&] { return numbers_[i][row++]; }));
        } else {
          columns.Add("present", Numbers<arrow::BooleanBuilder>(
                                     size(), [&] { return present_[row++]; }));
        }
      }
      return columns;
    }

   private:
    std::array<std::vector<std::int32_t>, 3> numbers_;
    std::vector<bool> present_;
  };

  FileRecord WriteChanges(Bytes& bytes, int first, const HistoryRows& rows) {
    Columns columns = rows.ToColumns(/*first=*/0, /*last=*/3);
    // Another name, or two columns that have changed places.
    const int odd = bytes.Below(64);
    if (odd == 0) columns.fields[1] = columns.fields[1]->WithName("src");
    if (odd == 1) {
      std::swap(columns.fields[2], columns.fields[3]);
      std::swap(columns.arrays[2], columns.arrays[3]);
    }
    return Write(RunLayout::HistoryChanges(RunLayout::kHistory, first), columns,
                 rows.size());
  }

  Scratch scratch_;
  std::shared_ptr<RunStore> store_;
};

}  // namespace coden::fuzz
