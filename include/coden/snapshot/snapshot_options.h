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

struct SnapshotOptions {
  SnapshotLayout layout = SnapshotLayout::kList;
  SnapshotNodes nodes = SnapshotNodes::kAll;
  SnapshotCompression compression = SnapshotCompression::kZstd;
};

}  // namespace coden
