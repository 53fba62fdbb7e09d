#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/operator.h"
#include "coden/graph/node_id_map.h"
#include "coden/store/parquet_file.h"
#include "import/field_values_internal.h"
#include "import/label_log_internal.h"

namespace coden::importing {

inline constexpr std::string_view kFileNames[] = {"edges.parquet", "labels.parquet",
                                                  "feature_updates.parquet"};

struct LogFilesOptions {
  std::string directory;
  TimeKind times = TimeKind::kNumber;
  bool zero_labels_say_nothing = false;  ///< no file where all labels are 0
  std::shared_ptr<const arrow::KeyValueMetadata> metadata;
};

/// Part rows in time order (src, dst, time, op, label, x: as many as there are) into the
/// files that hold them: edges.parquet where there is a dst, labels.parquet where there
/// is a label, feature_updates.parquet where there is an x. Files appear on Close.
class LogFiles {
 public:
  static arrow::Result<std::unique_ptr<LogFiles>> Open(const SchemaPtr& rows,
                                                       LogFilesOptions options);

  arrow::Status Write(const arrow::RecordBatch& rows);
  /// Write what was held back; after it the figures below are complete.
  arrow::Status Finish();
  arrow::Status Close(std::vector<FileRecord>* files);

  std::int64_t num_rows() const { return num_rows_; }
  std::int64_t num_nodes() const { return nodes_->size(); }
  EventTime first_time() const { return first_time_; }
  EventTime last_time() const { return last_time_; }
  bool has_labels() const { return labels_ != nullptr; }
  const LabelLog* label_log() const { return label_log_.get(); }

 private:
  explicit LogFiles(LogFilesOptions options) : options_(std::move(options)) {}

  arrow::Result<std::unique_ptr<ParquetFileWriter>> OpenFile(
      const std::string& name, const arrow::FieldVector& fields) const;
  arrow::Status WriteRows(ParquetFileWriter& writer, const arrow::RecordBatch& rows,
                          const std::vector<std::string>& columns) const;

  LogFilesOptions options_;
  std::unique_ptr<NodeIdMap> nodes_;
  std::vector<std::string> edge_columns_;
  std::unique_ptr<ParquetFileWriter> edges_;
  std::unique_ptr<LabelLog> label_log_;
  std::unique_ptr<ParquetFileWriter> labels_;
  std::unique_ptr<ParquetFileWriter> updates_;
  std::int64_t num_rows_ = 0;
  EventTime first_time_ = 0;
  EventTime last_time_ = 0;
};

}  // namespace coden::importing
