#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/base/types.h"

namespace coden {

/// One snapshot that the run takes: which prefix of the log it embeds, and why there.
struct SchedulePoint {
  int snapshot = 0;    ///< counts from 0
  int prediction = 0;  ///< prediction interval it lies in, from 1; 0 is the initial graph
  bool at_prediction = false;  ///< taken because prediction time t_k closed
  EventTime time = 0;          ///< t_k, or the time of the last row applied
  std::int64_t events = 0;     ///< rows of the log applied so far
  std::int64_t num_nodes = 0;  ///< nodes present: seen in an event or a feature row
  std::int64_t num_edges = 0;  ///< edges present; an undirected edge counts once
  double sigma = 0.0;          ///< shift bound since the previous snapshot; 0 initially
  /// Proven bound on ||h - z||_1 / num_nodes of the worst column, as written; known once
  /// the snapshot is embedded.
  std::optional<double> error_bound = std::nullopt;
  /// The full snapshot whose rows this one's file lies over; its own number where the
  /// file has all rows. Known once the snapshot is written.
  std::optional<int> base = std::nullopt;

  bool operator==(const SchedulePoint&) const = default;
};

using Schedule = std::vector<SchedulePoint>;

/// The schema of schedule.parquet (schemas/schedule.csv).
std::shared_ptr<arrow::Schema> ScheduleSchema();

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ScheduleToBatch(
    const Schedule& schedule);

/// Read a schedule back, refusing one whose rows are not consecutive snapshots from
/// `first_snapshot` on, in log order.
arrow::Result<Schedule> ScheduleFromTable(const arrow::Table& table,
                                          int first_snapshot = 0);

}  // namespace coden
