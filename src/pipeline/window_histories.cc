// The histories of graphs on which labels travel and edges expire
// (`train.label_windows`). How long an edge stays does not follow from the net changes of
// a graph without a window: a repeated edge starts its time again and changes nothing
// else. So the log is read once more, for all windows together, when training first asks
// for them; rows that are added later are then all that is read.

#include "pipeline/window_histories_internal.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/base/ini_text.h"
#include "coden/base/printable.h"
#include "coden/base/runner.h"
#include "coden/graph/event_graph.h"
#include "coden/graph/unobserved.h"
#include "coden/read/event_batch.h"
#include "coden/sample/schedule_replay.h"
#include "coden/state/history.h"
#include "coden/state/run_inputs.h"
#include "coden/state/saved_window.h"
#include "coden/store/commit.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "coden/version.h"
#include "settings/label_columns_internal.h"

namespace coden {

namespace {

std::string PendingFile(EventTime window) {
  return RunLayout::WindowHistory(window) + "/pending.parquet";
}

// By window, how many snapshots its history has.
using Covered = std::map<EventTime, int>;

std::string ToText(const Covered& covered) {
  std::string text;
  for (const auto& [window, snapshots] : covered)
    text += "window." + std::to_string(window) + " = " + std::to_string(snapshots) + "\n";
  return text;
}

Covered FromText(std::string_view text) {
  constexpr std::string_view kKey = "window.";
  Covered covered;
  const auto number = [](std::string_view digits, auto* value) {
    return std::from_chars(digits.data(), digits.data() + digits.size(), *value).ec ==
           std::errc();
  };
  for (const auto& [key, value] : ReadSettingLines(text)) {
    EventTime window = 0;
    int snapshots = 0;
    if (key.starts_with(kKey) &&
        number(std::string_view(key).substr(kKey.size()), &window) &&
        number(value, &snapshots)) {
      covered[window] = snapshots;
    }
  }
  return covered;
}

// One window on its way through the log.
class WindowRecorder {
 public:
  WindowRecorder(const GraphOptions& options, NodeId num_nodes) : graph_(options) {
    graph_.Grow(num_nodes);
  }

  EventTime window() const { return graph_.options().window; }
  void Prefetch(const EdgeEvent& event) const { graph_.Prefetch(event); }

  arrow::Status Open(RunStore& store, const std::vector<FileRecord>& files,
                     int num_snapshots) {
    const std::string folder = RunLayout::WindowHistory(window());
    const NodeId num_nodes = graph_.graph().num_nodes();
    ARROW_ASSIGN_OR_RAISE(History history,
                          History::Open(store, folder, files, num_nodes));
    ARROW_ASSIGN_OR_RAISE(const auto edges,
                          history.Edges(num_snapshots, graph_.options().directed));
    for (const EdgeChange edge : edges) graph_.RestoreEdge(edge.src(), edge.dst());
    if (num_snapshots > 0) {
      ARROW_ASSIGN_OR_RAISE(
          const auto pending,
          LoadWindow(store, PendingFile(window()), graph_.options().directed, num_nodes));
      for (const PendingExpiry& insertion : pending) graph_.RestoreExpiry(insertion);
    }
    graph_.RecordTo(&changes_);
    return HistoryWriter::Make(store, folder, files).Value(&writer_);
  }

  arrow::Status Apply(const EdgeEvent& event) { return graph_.Apply(event, nobody_); }

  arrow::Status Take(const SchedulePoint& point) {
    if (point.at_prediction) graph_.ExpireUntil(point.time, nobody_);
    ARROW_RETURN_NOT_OK(writer_->Write(point.snapshot, changes_.Take()));
    if (!writer_->WantsGraph(graph_.num_edges())) return arrow::Status::OK();
    return writer_->WriteGraph(graph_.graph().Edges(graph_.options().directed));
  }

  arrow::Result<std::vector<FileRecord>> Close(RunStore& store) {
    ARROW_ASSIGN_OR_RAISE(auto files, writer_->Close());
    ARROW_ASSIGN_OR_RAISE(files.emplace_back(), StageWindow(store, PendingFile(window()),
                                                            graph_.pending_expiries()));
    return files;
  }

 private:
  BasicEventGraph<DegreeGraph> graph_;
  Unobserved nobody_;
  NetChanges changes_;
  std::unique_ptr<HistoryWriter> writer_;
};

// Windows whose histories end at the same snapshot, through the rest of the log.
class WindowStage : public Operator {
 public:
  WindowStage(const Schedule& schedule, int num_done, NodeId num_nodes)
      : replay_(schedule), num_nodes_(num_nodes) {
    replay_.ContinueAfter(num_done);
  }

  WindowRecorder& Add(const GraphOptions& options) {
    return windows_.emplace_back(options, num_nodes_);
  }
  std::deque<WindowRecorder>& windows() { return windows_; }

  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override { return input; }
  std::string_view name() const override { return "windows"; }

  arrow::Status Push(BatchPtr batch, const Emit&) override {
    return replay_.Push(
        EventView(*batch),
        [&](const EdgeEvent& event) {
          for (const WindowRecorder& window : windows_) window.Prefetch(event);
        },
        [&](const EdgeEvent& event) -> arrow::Status {
          if (std::max(event.src, event.dst) >= num_nodes_) return InputChanged();
          for (WindowRecorder& window : windows_)
            ARROW_RETURN_NOT_OK(window.Apply(event));
          return arrow::Status::OK();
        },
        [&](const SchedulePoint& point) { return Take(point); });
  }
  arrow::Status Finish(const Emit&) override {
    return replay_.Finish([&](const SchedulePoint& point) { return Take(point); });
  }

 private:
  arrow::Status Take(const SchedulePoint& point) {
    for (WindowRecorder& window : windows_) ARROW_RETURN_NOT_OK(window.Take(point));
    return arrow::Status::OK();
  }

  ScheduleReplay replay_;
  NodeId num_nodes_;
  std::deque<WindowRecorder> windows_;
};

}  // namespace

arrow::Status MakeWindowHistories(const Settings& settings, RunStore& store,
                                  Manifest* manifest, const RunContext& context) {
  if (settings.train.label_columns == 0) return arrow::Status::OK();
  const PartRecord embed = *manifest->Find(kEmbedPart);
  const PartRecord* const found = manifest->Find(kWindowsPart);
  PartRecord part = found == nullptr ? PartRecord{} : *found;
  Covered covered = FromText(part.parameters);
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, RunLayout::kSchedule));
  ARROW_ASSIGN_OR_RAISE(const Schedule schedule, ScheduleFromTable(*table));
  const int num_snapshots = static_cast<int>(schedule.size());
  std::map<int, std::vector<EventTime>> missing;  // by the snapshots that are there
  for (const EventTime window : ResolveLabelColumns(settings).windows) {
    if (window != settings.graph.window && covered[window] < num_snapshots)
      missing[covered[window]].push_back(window);
  }
  if (missing.empty()) return arrow::Status::OK();

  ARROW_ASSIGN_OR_RAISE(const std::string text, store.ReadText(RunLayout::kProgress));
  ARROW_ASSIGN_OR_RAISE(const RunProgress progress,
                        ProgressFromJson(text, store.Show(RunLayout::kProgress)));
  const EarlierRun earlier{store, progress, embed};
  ARROW_ASSIGN_OR_RAISE(RunInputs inputs, RunInputs::Open(settings, &earlier));
  inputs.nodes->Freeze();
  for (const auto& [done, windows] : missing) {
    WindowStage stage(schedule, done, inputs.nodes->size());
    for (const EventTime window : windows) {
      GraphOptions options = settings.graph;
      options.window = window;
      ARROW_RETURN_NOT_OK(stage.Add(options).Open(store, part.files, done));
    }
    ARROW_ASSIGN_OR_RAISE(
        const UsedRows rows,
        ReadUsedRows(inputs.log, progress.log, settings.input.batch_rows,
                     done == 0 ? 0 : schedule[done - 1].events));
    EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes,
                       rows.options);
    Operator* stages[] = {&reader, &stage};
    context.progress->Begin("label windows", "rows", rows.count);
    ARROW_RETURN_NOT_OK(Run(*rows.reader, stages,
                            [](const BatchPtr&) { return arrow::Status::OK(); }, context,
                            {.read_ahead_of = 1})
                            .status());
    context.progress->End(CountOf(static_cast<std::int64_t>(windows.size()), "windows"));
    for (WindowRecorder& window : stage.windows()) {
      ARROW_ASSIGN_OR_RAISE(auto files, window.Close(store));
      for (FileRecord& file : files) part.ReplaceFile(std::move(file));
      covered[window.window()] = num_snapshots;
    }
  }
  std::erase_if(covered, [](const auto& entry) { return entry.second == 0; });
  part.name = kWindowsPart;
  part.version = kVersion;
  part.fingerprint = embed.fingerprint;
  part.parameters = ToText(covered);
  Manifest next = *manifest;
  next.Replace(std::move(part));
  return Commit(store, std::move(next), manifest);
}

}  // namespace coden
