#include <algorithm>
#include <memory>

#include <arrow/array.h>

#include "coden/graph/event_graph.h"
#include "coden/read/late_rows.h"
#include "read/columns_internal.h"
#include "read/time_limits_internal.h"
#include "read/time_warnings_internal.h"
#include "read/validation_internal.h"

namespace coden {

namespace {

// Mark late rows; a row without a time is none.
std::int64_t FindLate(const arrow::Int64Array& times, LateRows* rows,
                      std::vector<bool>* late) {
  std::vector<EventTime> known(times.raw_values(), times.raw_values() + times.length());
  for (std::int64_t row = 0; row < times.length(); ++row) {
    if (times.IsNull(row)) known[row] = kNoTime;
  }
  return rows->Mark(known, late);
}

std::string OtherColumns(const ParquetSource& source, const ScanColumns& scan) {
  std::string others;
  for (const std::string& name : source.schema()->field_names()) {
    if (std::find(scan.names().begin(), scan.names().end(), name) == scan.names().end())
      others += (others.empty() ? "" : ", ") + name;
  }
  return others;
}

class NoObserver : public BasicArcObserver<DegreeGraph> {
 public:
  void BeforeChange(const DegreeGraph&, NodeId) override {}
  void AfterChange(const DegreeGraph&, NodeId) override {}
};

}  // namespace

arrow::Status ValidateEdgeLog(const ParquetSource& source, CheckedInputs& inputs,
                              ProblemList& list) {
  const InputOptions& input = inputs.settings.input;
  const GraphOptions& graph = inputs.settings.graph;
  ARROW_ASSIGN_OR_RAISE(
      const auto columns,
      CheckEdgeLogSchema(source, input, graph.events, list.on_breach()));
  inputs.log_time = columns.time.type;
  ScanColumns scan;
  for (const auto& column : {columns.src, columns.dst, columns.time, columns.op}) {
    scan.Add(column);
  }
  const bool has_ends = columns.src.usable() && columns.dst.usable();
  if (has_ends) {
    ARROW_ASSIGN_OR_RAISE(inputs.nodes, NodeIdMap::Make(columns.src.id_type));
  }
  const bool replays =
      has_ends && columns.time.usable() && columns.op.usable() && !graph.lenient;
  BasicEventGraph<DegreeGraph> replay(graph);
  NoObserver observer;
  bool replay_ended = false;
  LateRows late_rows;
  std::vector<bool> late;
  std::int64_t num_late = 0;
  std::int64_t first_late = -1;
  std::vector<NodeId> src_nodes, dst_nodes;
  const auto visit = [&](const arrow::RecordBatch& batch,
                         std::int64_t first_row) -> arrow::Status {
    const auto place = [&](const InputColumn& column) {
      return ColumnPlace{column.name, first_row, list.on_breach()};
    };
    auto src = scan.Get(batch, columns.src);
    if (src != nullptr) {
      ARROW_ASSIGN_OR_RAISE(src, ReadIds(src, columns.src.id_type, place(columns.src)));
    }
    auto dst = scan.Get(batch, columns.dst);
    if (dst != nullptr) {
      ARROW_ASSIGN_OR_RAISE(dst, ReadIds(dst, columns.dst.id_type, place(columns.dst)));
    }
    if (has_ends) {
      ARROW_RETURN_NOT_OK(EncodeUsable(src, list.broken(), *inputs.nodes, &src_nodes));
      ARROW_RETURN_NOT_OK(EncodeUsable(dst, list.broken(), *inputs.nodes, &dst_nodes));
    }
    std::shared_ptr<arrow::Int64Array> times;
    if (const auto array = scan.Get(batch, columns.time)) {
      ARROW_ASSIGN_OR_RAISE(times, ReadTimes(array, place(columns.time)));
      EventTime latest = late_rows.earliest();
      num_late += FindLate(*times, &late_rows, &late);
      for (std::int64_t row = 0; row < times->length(); ++row) {
        const EventTime time = times->Value(row);
        if (!late[row]) {
          if (times->IsValid(row)) latest = std::max(latest, time);
          continue;
        }
        if (first_late < 0) first_late = first_row + row;
        if (input.late == LatePolicy::kDrop) continue;
        ARROW_RETURN_NOT_OK(
            place(columns.time)
                .Report(row, LateRows::kFallingTime,
                        std::to_string(time) + " after " + std::to_string(latest)));
      }
    }
    std::vector<bool> inserts;
    if (const auto array = scan.Get(batch, columns.op)) {
      ARROW_ASSIGN_OR_RAISE(inserts, ReadOps(array, place(columns.op)));
    }
    if (!replays || replay_ended) return arrow::Status::OK();
    // Rows before a broken one are still replayed; deletions found below break rows
    // as well, so the flags of the other rules are set aside.
    const std::vector<bool> broken = list.broken();
    for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
      if (broken[row]) {
        replay_ended = true;
        break;
      }
      if (late[row]) continue;
      const arrow::Status applied =
          replay.Apply({src_nodes[row], dst_nodes[row], times->Value(row),
                        inserts[row] ? EventKind::kInsert : EventKind::kDelete},
                       observer);
      if (!applied.ok()) {
        ARROW_RETURN_NOT_OK(place(columns.op).Report(row, applied.message()));
      }
    }
    return arrow::Status::OK();
  };
  RowsInRange rows{0, columns.num_rows};
  if (columns.time.usable()) {
    ARROW_ASSIGN_OR_RAISE(rows, FindRowsInRange(source, input, columns.time,
                                                columns.num_rows, list.on_breach()));
  }
  list.Remark({}, "rows outside `input.from`/`input.until` are not read",
              columns.num_rows - (rows.end - rows.begin), /*first_row=*/-1);
  ARROW_RETURN_NOT_OK(list.ForEachBatch(source, scan.names(), input.batch_rows,
                                        rows.begin, rows.end, inputs.context, visit));
  if (input.late == LatePolicy::kDrop)
    list.Remark(columns.time.name, "rows came late: dropped (`input.late`)", num_late,
                first_late);
  if (columns.time.usable()) {
    for (const auto check : {TimeWarnings, LabelWindowWarnings}) {
      ARROW_ASSIGN_OR_RAISE(const auto warnings,
                            check(inputs.settings, source, columns.time));
      for (const std::string& warning : warnings)
        list.Remark({}, warning, /*count=*/1, /*first_row=*/-1);
    }
  }
  // Where a column is missing, one of the others may be meant to be it.
  const std::string others = OtherColumns(source, scan);
  if (has_ends && columns.time.usable() && !others.empty()) {
    list.Remark({}, "columns of the edge log that are not read: " + others, /*count=*/1,
                /*first_row=*/-1);
  }
  inputs.log_is_known = has_ends;
  inputs.num_log_nodes = has_ends ? inputs.nodes->size() : 0;
  return arrow::Status::OK();
}

}  // namespace coden
