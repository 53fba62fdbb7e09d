#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

namespace coden {

/// Numbers of nodes over time, [nodes, channels, snapshots]. Filled snapshot by snapshot,
/// read node by node; time is the fastest dimension, so that a convolution over snapshots
/// reads it in place.
///
/// All of it is in memory, or a few snapshots at a time and the rest in a temporary file:
/// then what it takes does not depend on the number of snapshots.
class NodeHistory {
 public:
  struct Shape {
    std::int64_t nodes = 0;
    std::int64_t channels = 0;
    std::int64_t snapshots = 0;
  };

  /// Hold `held_snapshots` at a time, all of them where that is 0. The file, where one is
  /// needed, is made in `folder` and has no name from then on.
  static arrow::Result<std::unique_ptr<NodeHistory>> Make(const Shape& shape,
                                                          std::int64_t held_snapshots = 0,
                                                          const std::string& folder = {});
  ~NodeHistory();
  NodeHistory(const NodeHistory&) = delete;
  NodeHistory& operator=(const NodeHistory&) = delete;

  const Shape& shape() const { return shape_; }

  /// The channels of `node` in the snapshot that is being filled; zeros at first.
  float* Row(std::int64_t node);
  /// Go on to the next snapshot.
  arrow::Status EndSnapshot();

  /// Write the first `num_snapshots` of `node`, [channels, num_snapshots], to `out`. Call
  /// it when all snapshots are filled. Safe from many threads.
  arrow::Status Read(std::int64_t node, std::int64_t num_snapshots, float* out) const;

 private:
  NodeHistory(const Shape& shape, std::int64_t held)
      : shape_(shape), held_snapshots_(held) {}

  /// Turn what is held from [nodes, snapshots, channels] into [nodes, channels,
  /// snapshots] and write it out where there is a file.
  arrow::Status EndSegment();

  Shape shape_;
  std::int64_t held_snapshots_;
  std::int64_t num_filled_ = 0;
  std::vector<float> held_;
  int file_ = -1;
};

}  // namespace coden
