// R-MAT: a log of edges with the skewed degrees of real networks, of any size.
//
// Method. The adjacency matrix is cut into four quadrants, one is chosen with
// probability a, b, c or 1 - a - b - c, and so on inside it, `scale` times: each choice
// is one bit of the source and one of the destination. Low ids are therefore hubs; ids
// are not permuted. Row i has a generator of its own (random_internal.h), so the rows
// are independent of each other and of how many there are, and memory is constant.
//
// Encoding: one 64-bit draw serves two levels. A choice is three comparisons without a
// branch; the thresholds are multiples of 2^-32.
//
// Chakrabarti, Zhan, Faloutsos: R-MAT: A Recursive Model for Graph Mining, SDM 2004. The
// defaults of a, b, c are those of the Graph 500 benchmark.

#include "coden/generate/rmat.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/random_internal.h"
#include "generate/flag_internal.h"
#include "generate/table_writer_internal.h"

namespace coden {

namespace {

using setting_value::FormatReal;

// What a generator is for; part of its key, so never renumber.
enum Stream : std::uint64_t { kEdge = 16, kFeature };

struct Quadrants {
  std::uint64_t a;    // upper left: below a
  std::uint64_t ab;   // upper right: below ab
  std::uint64_t abc;  // lower left: below abc
};

struct Ends {
  std::int64_t src = 0;
  std::int64_t dst = 0;
};

Ends DrawEnds(const Quadrants& quadrants, int scale, Random random) {
  Ends ends;
  std::uint64_t bits = 0;
  for (int level = 0; level < scale; ++level) {
    bits = level % 2 == 0 ? random.Bits() : bits >> 32;
    const std::uint64_t draw = bits & 0xffffffff;
    const int lower = draw >= quadrants.ab;
    const int right = (draw >= quadrants.a) - lower + (draw >= quadrants.abc);
    ends.src = ends.src << 1 | lower;
    ends.dst = ends.dst << 1 | right;
  }
  return ends;
}

arrow::Status Check(const RmatOptions& options) {
  ARROW_RETURN_NOT_OK(generate::CheckEach(options));
  if (options.a + options.b + options.c > 1.0) {
    return UsageError("`a` + `b` + `c` must be at most 1: ", FormatReal(options.a), ", ",
                      FormatReal(options.b), " and ", FormatReal(options.c));
  }
  if (options.steps > options.edges) {
    return UsageError("`steps` must be at most `edges`: ", options.steps, " and ",
                      options.edges);
  }
  return arrow::Status::OK();
}

}  // namespace

std::span<const GenerateFlag<RmatOptions>> RmatOptions::Flags() {
  using namespace setting_value;
  using generate::Declare;
  using Self = RmatOptions;
  static const std::vector<GenerateFlag<RmatOptions>> flags = {
      Declare("out", &Self::out, generate::Directory{}, "Output directory."),
      Declare("scale", &Self::scale, Integer<int>{1, 40},
              "Binary logarithm of the number of nodes."),
      // Bounded so that a row number times `steps` stays below 2^63.
      Declare("edges", &Self::edges, Integer<std::int64_t>{1, std::int64_t{1} << 40},
              "Number of rows in the log."),
      Declare("features", &Self::features, Integer<int>{0, 4096},
              "Gaussian features per node; 0 writes no features."),
      Declare("steps", &Self::steps, Integer<std::int64_t>{1, 1 << 20},
              "Number of distinct times, from 0 up, with the same number of rows each."),
      Declare("a", &Self::a, Real{0, 1, Real::kClosed},
              "Fraction of edges within the lower half of the ids, at every level."),
      Declare("b", &Self::b, Real{0, 1, Real::kClosed},
              "Fraction of edges from the lower half to the upper half."),
      Declare("c", &Self::c, Real{0, 1, Real::kClosed},
              "Fraction of edges from the upper half to the lower half."),
      Declare("seed", &Self::seed, Integer<std::uint64_t>{0, std::uint64_t{1} << 53},
              "Seed for all random choices."),
  };
  return flags;
}

arrow::Result<GenerateSummary> GenerateRmat(const RmatOptions& options,
                                            const RunContext& context) {
  ARROW_RETURN_NOT_OK(Check(options));
  const auto metadata = generate::Provenance("rmat", options);
  ARROW_ASSIGN_OR_RAISE(
      auto edges, generate::EdgeWriter::Open(options.out, /*with_op=*/false, metadata));
  const auto threshold = [](double share) {
    return static_cast<std::uint64_t>(std::llround(share * 0x1p32));
  };
  const Quadrants quadrants = {threshold(options.a), threshold(options.a + options.b),
                               threshold(options.a + options.b + options.c)};

  context.progress->Begin("edges", "rows", options.edges);
  for (std::int64_t row = 0; row < options.edges; ++row) {
    if (row % generate::kBatchRows == 0) {
      ARROW_RETURN_NOT_OK(context.stop.Poll());
      context.progress->Advance(row);
    }
    const Ends ends =
        DrawEnds(quadrants, options.scale, Random(options.seed, kEdge, row));
    const EventTime time = row * options.steps / options.edges;
    ARROW_RETURN_NOT_OK(edges.Append(ends.src, ends.dst, time));
  }
  context.progress->End(std::to_string(options.edges) + " edges");

  GenerateSummary summary;
  summary.num_nodes = std::int64_t{1} << options.scale;
  summary.num_inserts = options.edges;
  std::unique_ptr<ParquetFileWriter> features;
  if (options.features > 0) {
    const auto fill = [&](std::int64_t node, std::span<float> x) {
      Random random(options.seed, kFeature, node);
      for (float& value : x) value = static_cast<float>(random.Normal());
    };
    ARROW_ASSIGN_OR_RAISE(
        features, generate::WriteFeatures(options.out, summary.num_nodes,
                                          options.features, fill, metadata, context));
  }
  ARROW_ASSIGN_OR_RAISE(summary.files.emplace_back(), edges.Close());
  if (features != nullptr) {
    ARROW_ASSIGN_OR_RAISE(summary.files.emplace_back(), features->Close());
  }
  return summary;
}

}  // namespace coden
