#pragma once

namespace coden {

/// Arrow type of the `embedding` of a snapshot row.
enum class SnapshotLayout {
  kList,     ///< list<float>
  kFixed,    ///< fixed_size_list<float>
  kColumns,  ///< one float column per dimension: e0, e1, ...
};

enum class SnapshotNodes { kAll, kLabelled };

enum class SnapshotCompression { kZstd, kSnappy, kNone };

/// Type of one number of an embedding.
enum class SnapshotPrecision { kFloat32, kFloat16 };

/// Which rows of a snapshot its file holds.
enum class SnapshotMode {
  kFull,   ///< all of them
  kDelta,  ///< those that have moved since the last full snapshot, or are new since then
};

struct SnapshotOptions {
  SnapshotLayout layout = SnapshotLayout::kList;
  SnapshotPrecision precision = SnapshotPrecision::kFloat32;
  SnapshotNodes nodes = SnapshotNodes::kAll;
  SnapshotMode mode = SnapshotMode::kFull;
  double threshold = 0.0;  ///< `delta`: a row moves when a number changes by more
  int full_every = 16;     ///< `delta`: at least one in so many snapshots is full
  SnapshotCompression compression = SnapshotCompression::kZstd;
};

}  // namespace coden
