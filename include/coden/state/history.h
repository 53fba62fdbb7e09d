#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/graph/edge_change.h"
#include "coden/graph/graph_source.h"
#include "coden/graph/snapshot_graph.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_store.h"

namespace coden {

/// The schema of the change files of a history (schemas/history.csv).
std::shared_ptr<arrow::Schema> HistorySchema();

/// Write the history of one view of the log: the net changes of every snapshot, in files
/// below `folder` that many snapshots share, and the whole graph at intervals, so that
/// opening the history in the middle costs at most about twice the graph. The layout is
/// told at the head of history.cc.
class HistoryWriter {
 public:
  /// `earlier` are the files that `folder` has. `store` must outlive the writer.
  static arrow::Result<std::unique_ptr<HistoryWriter>> Make(
      RunStore& store, std::string folder, const std::vector<FileRecord>& earlier = {});

  /// Write the changes of a snapshot, sorted; snapshots come in order.
  arrow::Status Write(int snapshot, std::span<const EdgeChange> changes);

  /// Whether the changes since the last whole graph are so many beside the `num_edges`
  /// that are present now that the graph should be written.
  bool WantsGraph(std::int64_t num_edges) const;
  /// Write the graph at the snapshot that was written last: all edges, sorted.
  arrow::Status WriteGraph(std::span<const EdgeChange> edges);

  /// The files, staged.
  arrow::Result<std::vector<FileRecord>> Close();

 private:
  HistoryWriter(RunStore& store, std::string folder)
      : store_(store), folder_(std::move(folder)) {}
  arrow::Status CloseFile();

  RunStore& store_;
  std::string folder_;
  std::unique_ptr<ParquetFileWriter> file_;  // of changes, if one is open
  int last_snapshot_ = -1;
  std::int64_t rows_since_graph_ = 0;
  std::vector<FileRecord> closed_;
};

/// Read a history and bring graphs along with it.
class History : public GraphSource {
 public:
  /// Open the history below `folder`, whose files are among `files`. The graphs have
  /// `num_nodes` nodes. `store` must outlive the history.
  static arrow::Result<History> Open(const RunStore& store, std::string_view folder,
                                     const std::vector<FileRecord>& files,
                                     NodeId num_nodes);
  History(History&&) noexcept;
  History& operator=(History&&) noexcept;
  ~History() override;

  arrow::Status Load(int num_snapshots, SnapshotGraph& graph) override;
  arrow::Status AdvanceTo(int snapshot, SnapshotGraph& graph) override;

  /// All edges after `num_snapshots` snapshots, sorted. Before anything else is read.
  arrow::Result<std::vector<EdgeChange>> Edges(int num_snapshots, bool directed);

  /// Rows of changes in all files.
  std::int64_t num_changes() const;

 private:
  class Reader;
  explicit History(std::unique_ptr<Reader> reader);

  std::unique_ptr<Reader> reader_;
};

}  // namespace coden
