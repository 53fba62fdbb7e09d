#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/pipeline/operator.h"
#include "coden/store/run_store.h"
#include "coden/sample/schedule.h"
#include "coden/store/parquet_file.h"
#include "coden/snapshot/snapshot_options.h"

namespace coden {

/// Facts that every snapshot file carries in its key-value metadata, under `coden.`.
struct SnapshotProvenance {
  std::string run_id;
  std::string parameters;  ///< the settings that decide the numbers, as an ini file
  std::string input_fingerprint;
};

/// The schema of a snapshot file (schemas/snapshot.csv).
std::shared_ptr<arrow::Schema> SnapshotSchema(
    const std::shared_ptr<arrow::DataType>& id_type, SnapshotLayout layout, int width);

/// The `snapshot` stage: write the rows of every snapshot as one file into the stage of
/// the run, to be committed. Emits nothing.
class SnapshotWriter : public Operator {
 public:
  /// Called with every snapshot's number and file, in order, once it is complete.
  using OnFile = std::function<arrow::Status(int snapshot, FileRecord file)>;

  /// `store` and `schedule` must outlive the stage. The first `num_done` snapshots are
  /// there already.
  SnapshotWriter(const SnapshotOptions& options, RunStore& store,
                 const Schedule& schedule, int width, SnapshotProvenance provenance,
                 int num_done, OnFile on_file);

  std::string_view name() const override { return "snapshot"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override;
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit& emit) override;

 private:
  /// Make `snapshot` the open file. One that has no rows gets its file in passing.
  arrow::Status MoveTo(int snapshot);
  arrow::Status OpenFile(int snapshot);
  arrow::Status CloseFile();
  arrow::Result<BatchPtr> Arrange(const arrow::RecordBatch& batch) const;

  SnapshotOptions options_;
  RunStore& store_;
  const Schedule& schedule_;
  int width_;
  SnapshotProvenance provenance_;
  OnFile on_file_;
  SchemaPtr file_schema_;
  int open_snapshot_;
  std::unique_ptr<ParquetFileWriter> file_;
};

}  // namespace coden
