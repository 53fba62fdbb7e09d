#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace coden {

/// What an update of the embeddings took.
struct SolveWork {
  std::int64_t sweeps = 0;          ///< of the block that took most
  std::int64_t proving_sweeps = 0;  ///< in double precision, of the block that took most
  std::int64_t swept_arcs = 0;      ///< arcs times blocks that sweeps followed
  double sweep_seconds = 0.0;       ///< spent in them, summed over blocks
  std::int64_t pushes = 0;          ///< rows pushed, in at least one column of a block
  std::int64_t pushed_arcs = 0;     ///< arcs followed by those pushes
  double seconds = 0.0;             ///< of wall time, where somebody has looked

  void Add(const SolveWork& other) {
    sweeps = std::max(sweeps, other.sweeps);
    proving_sweeps = std::max(proving_sweeps, other.proving_sweeps);
    swept_arcs += other.swept_arcs;
    sweep_seconds += other.sweep_seconds;
    pushes += other.pushes;
    pushed_arcs += other.pushed_arcs;
    seconds += other.seconds;
  }
};

/// Whether the work is to end early; called from any thread.
using StopCheck = std::function<bool()>;

}  // namespace coden
