// A graph that grows in steps, as tests/bench/graphs.py writes it: one file,
// little-endian,
//
//     8 x int64   magic, nodes, columns, directed, toggle, steps, edges, 0
//     int64       edges up to the end of each step; the first step is the start
//     2 x int32   source and target of each edge
//     float32     features, node by node
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/types.h"

namespace coden {

struct Scenario {
  static constexpr std::int64_t kMagic = 0x314e4544'4f43;  // "CODEN1"

  std::int64_t num_nodes = 0;
  int num_columns = 0;
  bool directed = false;
  EventKind kind = EventKind::kInsert;
  std::vector<std::int64_t> step_ends;
  std::vector<NodeId> ends;  // source and target by turns
  std::string path;
  std::streamoff features_at = 0;

  std::size_t num_steps() const { return step_ends.size(); }
  std::int64_t step_begin(std::size_t step) const {
    return step == 0 ? 0 : step_ends[step - 1];
  }
  EdgeEvent edge(std::int64_t index) const {
    return {ends[2 * index], ends[2 * index + 1], /*time=*/0, kind};
  }

  /// By node, its place in the order of first edges; -1 where it has none.
  std::vector<std::int32_t> Arrivals() const {
    std::vector<std::int32_t> arrivals(num_nodes, -1);
    std::int32_t arrived = 0;
    for (const NodeId node : ends)
      if (arrivals[node] < 0) arrivals[node] = arrived++;
    return arrivals;
  }

  static arrow::Result<Scenario> Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::int64_t header[8] = {};
    file.read(reinterpret_cast<char*>(header), sizeof(header));
    if (!file || header[0] != kMagic) {
      return arrow::Status::IOError("cannot read a scenario from '", path, "'");
    }
    Scenario scenario;
    scenario.path = path;
    scenario.num_nodes = header[1];
    scenario.num_columns = static_cast<int>(header[2]);
    scenario.directed = header[3] != 0;
    scenario.kind = header[4] != 0 ? EventKind::kToggle : EventKind::kInsert;
    scenario.step_ends.resize(header[5]);
    scenario.ends.resize(2 * header[6]);
    const auto read = [&file](auto& numbers) {
      file.read(reinterpret_cast<char*>(numbers.data()),
                static_cast<std::streamsize>(numbers.size() * sizeof(numbers[0])));
    };
    read(scenario.step_ends);
    read(scenario.ends);
    scenario.features_at = file.tellg();
    if (!file) return arrow::Status::IOError("the scenario is cut short: '", path, "'");
    return scenario;
  }

  /// Hand every node's features to `take`, one row in memory at a time, so that reading
  /// them does not show in the memory of what is measured.
  template <typename Take>
  arrow::Status ForEachFeature(const Take& take) const {
    std::ifstream file(path, std::ios::binary);
    file.seekg(features_at);
    std::vector<float> row(num_columns);
    for (std::int64_t node = 0; node < num_nodes; ++node) {
      file.read(reinterpret_cast<char*>(row.data()),
                static_cast<std::streamsize>(row.size() * sizeof(float)));
      if (!file) return arrow::Status::IOError("features are missing: '", path, "'");
      take(static_cast<NodeId>(node), std::span<const float>(row));
    }
    return arrow::Status::OK();
  }
};

}  // namespace coden
