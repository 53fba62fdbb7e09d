#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/embed/embedding_engine.h"
#include "coden/embed/solve_work.h"
#include "coden/settings/embed_options.h"
#include "coden/store/manifest.h"
#include "coden/store/run_store.h"

namespace coden {

/// A slice of the columns of every snapshot that a schedule still lacks. Slices are
/// embedded one after another, or by processes that know nothing of each other, and wait
/// below `_coden/slices/` until all of them are there.
///
/// A slice is there once its record is, `_coden/slices/SCHEDULE/columns-0-32.json`. It
/// names the files that the slice has left, each attempt in a folder of its own, so that
/// two processes with the same slice are in nobody's way: the first record counts.
struct SavedSlice {
  ColumnRange columns;  ///< of the features
  /// By snapshot, of those that the slice has embedded.
  std::vector<double> error_bounds;
  std::vector<SolveWork> work;
  EngineMemory engine;  ///< after the last of them
  double seconds = 0.0;
  std::int64_t peak_bytes = 0;
  FileRecord rows;                ///< the embeddings (slice_rows_internal.h)
  std::vector<FileRecord> state;  ///< what the next run needs; `staged` is where it waits
};

/// Name the schedule that the manifest's part `embed` still has to embed: slices of
/// another one are not of this run. Changes with every commit of that part.
std::string ScheduleId(const PartRecord& embed);

/// A new folder for the files of one attempt at a slice.
std::string NewSliceFolder(const std::string& schedule, const ColumnRange& columns);

/// Make the slice count, unless another attempt has been first: then its own files are
/// removed. Returns the slice that counts.
arrow::Result<SavedSlice> PublishSlice(RunStore& store, const std::string& schedule,
                                       SavedSlice slice);

/// The slices of a schedule that are there, by their first columns. A record that is
/// damaged, or whose files are not there, is an error.
arrow::Result<std::vector<SavedSlice>> LoadSlices(const RunStore& store,
                                                  const std::string& schedule);

/// Remove everything below `_coden/slices/` but `kept`, the slices of `schedule`.
arrow::Status RemoveSlicesBut(RunStore& store, const std::string& schedule,
                              const std::vector<SavedSlice>& kept);

/// Leave in `slices`, which are sorted, those that lie side by side in `columns`, and
/// return what they leave open.
std::vector<ColumnRange> MissingColumns(const ColumnRange& columns,
                                        std::vector<SavedSlice>* slices);

}  // namespace coden
