#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/operator.h"
#include "coden/graph/node_id_map.h"
#include "coden/sample/schedule.h"
#include "coden/settings/snapshot_options.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_store.h"

namespace coden {

class DeltaRows;
struct NodeRows;

/// Facts that every snapshot file carries in its key-value metadata, under `coden.`.
struct SnapshotProvenance {
  std::string run_id;
  std::string parameters;  ///< the settings that decide the numbers, as an ini file
  std::string input_fingerprint;
};

/// The schema of a snapshot file (schemas/snapshot.csv).
std::shared_ptr<arrow::Schema> SnapshotSchema(
    const std::shared_ptr<arrow::DataType>& id_type, SnapshotLayout layout, int width,
    SnapshotPrecision precision = SnapshotPrecision::kFloat32);

/// A snapshot whose file is complete.
struct WrittenSnapshot {
  int snapshot = 0;
  /// The full snapshot that the file lies over; its own number where it has all rows.
  int base = 0;
  FileRecord file;
  /// What writing has added to the error: the worst column's sum over all rows of what
  /// rounding to float16 and leaving out rows has changed, divided by the number of
  /// nodes.
  double error_added = 0.0;
};

/// The `snapshot` stage: write the rows of every snapshot (Embedder) as one file into the
/// stage of the run, to be committed. Here numbers of nodes become the user's ids. Emits
/// nothing.
///
/// With `snapshot.mode = delta` it holds two snapshots: the last full one and the one
/// that is coming in.
class SnapshotWriter : public Operator {
 public:
  /// Called with every snapshot, in order, once its file is complete.
  using OnFile = std::function<arrow::Status(WrittenSnapshot)>;

  /// `store`, `schedule` and `nodes`, whose numbers come, must outlive the stage. The
  /// first `num_done` snapshots are there already, and the schedule says which of them
  /// are full; `num_rows` are the rows of each of the others, so that its file is
  /// complete with its last row.
  SnapshotWriter(const SnapshotOptions& options, RunStore& store,
                 const Schedule& schedule, const NodeIdMap& nodes, int width,
                 SnapshotProvenance provenance, int num_done,
                 std::vector<std::int64_t> num_rows, OnFile on_file);
  ~SnapshotWriter() override;

  std::string_view name() const override { return "snapshot"; }
  /// Where snapshots are done already, reads the last full one if it is needed.
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override;
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit& emit) override;

 private:
  /// Come to `snapshot`. Those without rows get their files in passing.
  arrow::Status MoveTo(int snapshot);
  arrow::Status Open();
  arrow::Status Close();
  arrow::Status OpenFile(int base);
  /// Write the rows that wait, those that are chosen.
  arrow::Status WriteChosen(const std::vector<bool>& chosen);
  arrow::Status Take(const arrow::RecordBatch& batch);
  arrow::Status Write(const NodeRows& rows);
  /// Round the numbers to what float16 can hold.
  arrow::Status Round(NodeRows* rows);
  arrow::Status ReadBase();

  SnapshotOptions options_;
  RunStore& store_;
  const Schedule& schedule_;
  const NodeIdMap& nodes_;
  int width_;
  SnapshotProvenance provenance_;
  OnFile on_file_;
  SchemaPtr file_schema_;
  int num_done_;
  std::vector<std::int64_t> num_rows_;  // by snapshot after those done
  int snapshot_;                        // that is open, or comes next
  bool is_open_ = false;
  std::int64_t rows_left_ = 0;  // to come, of the open one
  std::unique_ptr<ParquetFileWriter> file_;
  std::unique_ptr<DeltaRows> delta_;  // none where every snapshot is full
  std::vector<NodeRows> waiting_;     // of the open snapshot, until `delta_` has chosen
  std::vector<double> loss_;          // of the open snapshot, by column
};

}  // namespace coden
