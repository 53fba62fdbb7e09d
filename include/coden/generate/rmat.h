#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/generate/generate.h"

namespace coden {

/// Options of the R-MAT generator.
struct RmatOptions {
  std::string out = {};
  int scale = 16;
  std::int64_t edges = 1'000'000;
  int features = 0;
  std::int64_t steps = 100;
  double a = 0.57;
  double b = 0.19;
  double c = 0.19;
  std::uint64_t seed = 0;

  static std::span<const GenerateFlag<RmatOptions>> Flags();
};

/// Write a graph with a skewed degree distribution and without labels, of any size, for
/// measuring speed and memory: edges.parquet (src, dst, time) and, where `features` is
/// above 0, features.parquet (node, x ~ N(0, 1)) in the directory `out`, replacing files
/// of these names.
///
/// Node ids lie in [0, 2^scale). Edges repeat and may be self loops, as the method gives
/// them: read the log with `graph.events = insert`, which ignores and counts repetitions,
/// or `toggle`. The times 0 .. steps - 1 have equal numbers of rows, give or take one.
///
/// The ends of row i depend on the seed, the shape (scale, a, b, c) and i alone: a longer
/// log begins with the rows of a shorter one. Memory does not grow with the size. The
/// files appear when all rows are written; an error or a stop before leaves earlier files
/// as they were.
arrow::Result<GenerateSummary> GenerateRmat(const RmatOptions& options,
                                            const RunContext& context);

}  // namespace coden
