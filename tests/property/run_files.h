// The log, the features and the updates of a case as Parquet files, and runs of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "coden/pipeline/pipeline.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "property/check_property.h"
#include "property/log_case.h"
#include "property/sample_case.h"
#include "support/parquet.h"
#include "support/run_store.h"
#include "support/temp_dir.h"

namespace coden::property {

/// What the user calls node 0, 1, 2, ...
using Names = std::vector<std::string>;

struct Rows {
  std::vector<EdgeEvent> events;
  std::vector<Item> updates;
};

inline Rows RowsOf(const Log& log) {
  Rows rows;
  for (const Batch& batch : log.batches) {
    for (const Item& item : batch.items) {
      if (item.is_event()) {
        rows.events.push_back(item.event);
      } else {
        rows.updates.push_back(item);
      }
    }
  }
  return rows;
}

class RunFiles {
 public:
  /// Ids are strings where `text` says so, and whole numbers otherwise.
  RunFiles(const Case& setup, const SampleCase& sampling, Names names, bool text = false)
      : names_(std::move(names)), text_(text) {
    settings.input.edges = folder_.path() + "/log";
    settings.graph = setup.graph;
    settings.embed = setup.embed;
    settings.sample = sampling.sample;
    settings.partition = sampling.partition;
    settings.run.threads = 1;
    settings.input.random_seed = setup.seed;
    settings.run.commit_interval = 1000;
  }

  /// Write `events` as the file `name` of the log.
  void WriteLog(const std::string& name, std::span<const EdgeEvent> events,
                std::int64_t row_group_rows = 1000) {
    std::vector<NodeId> src, dst;
    arrow::Int64Builder time;
    arrow::Int8Builder op;
    for (const EdgeEvent& event : events) {
      src.push_back(event.src);
      dst.push_back(event.dst);
      Must(time.Append(event.time));
      Must(op.Append(event.kind == EventKind::kDelete ? -1 : 1));
    }
    WriteParquet(folder_ / ("log/" + name),
                 *TableOf({{"src", Ids(src)},
                           {"dst", Ids(dst)},
                           {"time", time.Finish().ValueOrDie()},
                           {"op", op.Finish().ValueOrDie()}}),
                 row_group_rows);
  }

  /// Write the features of the nodes that have some, in this order of nodes.
  void WriteFeatures(const std::vector<std::vector<float>>& features,
                     const std::vector<NodeId>& order) {
    std::vector<NodeId> nodes;
    for (const NodeId node : order) {
      if (!features[node].empty()) nodes.push_back(node);
    }
    settings.input.features = WriteParquet(
        folder_ / "features.parquet",
        *TableOf({{"node", Ids(nodes)}, {"x", Vectors(nodes.size(), [&](std::size_t i) {
                                           return std::span(features[nodes[i]]);
                                         })}}));
  }

  void WriteUpdates(const std::vector<Item>& updates) {
    std::vector<NodeId> nodes;
    arrow::Int64Builder time;
    for (const Item& update : updates) {
      nodes.push_back(update.event.src);
      Must(time.Append(update.event.time));
    }
    if (nodes.empty()) return;
    settings.input.feature_updates =
        WriteParquet(folder_ / "updates.parquet",
                     *TableOf({{"node", Ids(nodes)},
                               {"time", time.Finish().ValueOrDie()},
                               {"x", Vectors(nodes.size(), [&](std::size_t i) {
                                  return std::span(updates[i].vector);
                                })}}));
  }

  arrow::Status Embed(const std::string& run) {
    settings.run.directory = PathOf(run);
    RunRequest request;
    request.goal = Goal::kEmbed;
    return RunPipeline(settings, request, Context()).status();
  }

  Schedule ScheduleOf(const std::string& run) const {
    const auto store = Must(RunStore::Open(PathOf(run)));
    return Must(ScheduleFromTable(*Must(ReadParquetFile(*store, RunLayout::kSchedule))));
  }

  /// The rows of a snapshot: the user's id, and the bits of the numbers.
  using Snapshot = std::vector<std::pair<std::string, std::vector<float>>>;
  Snapshot SnapshotOf(const std::string& run, int number) const {
    const auto store = Must(RunStore::Open(PathOf(run)));
    const auto table = Must(ReadParquetFile(*store, RunLayout::Snapshot(number)));
    const auto batch = table->CombineChunksToBatch().ValueOrDie();
    const auto& lists = static_cast<const arrow::ListArray&>(*batch->column(1));
    const auto& floats = static_cast<const arrow::FloatArray&>(*lists.values());
    Snapshot rows;
    for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
      rows.emplace_back(
          batch->column(0)->GetScalar(row).ValueOrDie()->ToString(),
          std::vector<float>(floats.raw_values() + lists.value_offset(row),
                             floats.raw_values() + lists.value_offset(row + 1)));
    }
    return rows;
  }

  RunContext Context() { return {&silent_}; }
  std::string PathOf(const std::string& name) const {
    return folder_.path() + "/" + name;
  }
  const Names& names() const { return names_; }

  Settings settings;

 private:
  std::shared_ptr<arrow::Array> Ids(const std::vector<NodeId>& nodes) const {
    if (text_) {
      arrow::StringBuilder builder;
      for (const NodeId node : nodes) Must(builder.Append(names_[node]));
      return builder.Finish().ValueOrDie();
    }
    arrow::Int64Builder builder;
    for (const NodeId node : nodes) Must(builder.Append(std::stoll(names_[node])));
    return builder.Finish().ValueOrDie();
  }

  static std::shared_ptr<arrow::Array> Vectors(
      std::size_t count,
      const std::function<std::span<const float>(std::size_t)>& vector) {
    const auto values = std::make_shared<arrow::FloatBuilder>();
    arrow::ListBuilder lists(arrow::default_memory_pool(), values);
    for (std::size_t i = 0; i < count; ++i) {
      Must(lists.Append());
      for (const float value : vector(i)) Must(values->Append(value));
    }
    return lists.Finish().ValueOrDie();
  }

  TempDir folder_;
  Names names_;
  bool text_;
  SilentProgress silent_;
};

/// Names in the order of the nodes.
inline Names PlainNames(int num_nodes) {
  Names names;
  for (int node = 0; node < num_nodes; ++node) names.push_back(std::to_string(7 * node));
  return names;
}

inline std::vector<NodeId> InOrder(int num_nodes) {
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < num_nodes; ++node) nodes.push_back(node);
  return nodes;
}

}  // namespace coden::property
