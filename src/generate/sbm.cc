// A dynamic stochastic block model: a signed edge log, node features and timed labels.
//
// Method. Every step, each node moves to another community with probability `switch`.
// Then m = nodes * edges_per_step edges are drawn: one end among all nodes, the other
// within its community with probability `within`, otherwise outside it. Before the j-th
// edge of a step goes in, the j-th edge of the step `lifetime` steps earlier is deleted,
// so insertions and deletions alternate and the number of live edges is steady also in
// the middle of a step. An edge that is live already is drawn again.
//
// Why features are rare instead of merely noisy: an embedding holds its own node's
// feature with weight alpha at least, at all times. Noise on every node would be the
// same in all of the node's snapshots, and no averaging over time could remove it. So
// most nodes have no feature of their own and are seen through their edges alone.
//
// Holland, Laskey, Leinhardt: Stochastic blockmodels, Social Networks 1983.
// Yang, Chi, Zhu, Gong, Jin: Detecting communities and their evolutions in dynamic social
// networks, Machine Learning 2011 (nodes that move between blocks).

#include "coden/generate/sbm.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/random_internal.h"
#include "coden/base/types.h"
#include "generate/flag_internal.h"
#include "generate/membership_internal.h"
#include "generate/table_writer_internal.h"

namespace coden {

namespace {

using generate::EdgeWriter;
using generate::LabelWriter;
using generate::Membership;

// What a generator is for; part of its key, so never renumber.
enum Stream : std::uint64_t { kCommunity, kSwitch, kEdge, kMean, kFeature };

struct Edge {
  NodeId src;
  NodeId dst;
};

/// The edges that are live, as unordered pairs.
class LiveEdges {
 public:
  bool Insert(Edge edge) { return keys_.insert(Key(edge)).second; }
  void Remove(Edge edge) { keys_.erase(Key(edge)); }

 private:
  static std::uint64_t Key(Edge edge) {
    const auto [low, high] = std::minmax(edge.src, edge.dst);
    return static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint64_t>(high);
  }

  std::unordered_set<std::uint64_t> keys_;
};

/// Draw an edge that is not live and make it live; nothing if the graph is too full
/// where the draw leads.
std::optional<Edge> DrawEdge(const SbmOptions& options, const Membership& membership,
                             LiveEdges& live, Random& random) {
  constexpr int kTries = 64;
  const auto src = static_cast<NodeId>(random.Below(options.nodes));
  const int community = membership.community(src);
  const bool within = random.Uniform() < options.within;
  for (int i = 0; i < kTries; ++i) {
    const auto dst = within ? membership.Draw(community, random)
                            : static_cast<NodeId>(random.Below(options.nodes));
    if (dst == src || (membership.community(dst) == community) != within) continue;
    if (live.Insert({src, dst})) return Edge{src, dst};
  }
  return std::nullopt;
}

/// Community means: independent directions of length `signal`.
std::vector<double> DrawMeans(const SbmOptions& options) {
  std::vector<double> means;
  for (int community = 0; community < options.communities; ++community) {
    Random random(options.seed, kMean, community);
    double square = 0;
    for (int i = 0; i < options.features; ++i) {
      means.push_back(random.Normal());
      square += means.back() * means.back();
    }
    for (auto mean = means.end() - options.features; mean != means.end(); ++mean) {
      *mean *= options.signal / std::sqrt(square);
    }
  }
  return means;
}

arrow::Result<std::unique_ptr<ParquetFileWriter>> WriteProfiles(
    const SbmOptions& options, const Membership& membership,
    const generate::Metadata& metadata, const RunContext& context) {
  const std::vector<double> means = DrawMeans(options);
  const auto fill = [&](std::int64_t node, std::span<float> x) {
    Random random(options.seed, kFeature, node);
    if (random.Uniform() >= options.profiled) return;
    const int community = membership.community(static_cast<NodeId>(node));
    const double* mean = means.data() + community * x.size();
    for (float& value : x) value = static_cast<float>(*mean++ + random.Normal());
  };
  return generate::WriteFeatures(options.out, options.nodes, options.features, fill,
                                 metadata, context);
}

std::int64_t EdgesPerStep(const SbmOptions& options) {
  return std::llround(static_cast<double>(options.nodes) * options.edges_per_step);
}

arrow::Status Check(const SbmOptions& options) {
  ARROW_RETURN_NOT_OK(generate::CheckEach(options));
  if (options.nodes < std::int64_t{2} * options.communities) {
    return UsageError("`nodes` must be at least twice `communities`: ", options.nodes,
                      " and ", options.communities);
  }
  const std::int64_t edges = EdgesPerStep(options);
  if (edges < 1) {
    return UsageError(
        "`nodes` times `edges_per_step` must be at least 1: ", options.nodes, " and ",
        setting_value::FormatReal(options.edges_per_step));
  }
  // Above that, draws within a small community would often find the edge live.
  const double pairs_within = 0.5 * static_cast<double>(options.nodes) *
                              static_cast<double>(options.nodes) / options.communities;
  if (static_cast<double>(edges) * options.lifetime > 0.5 * pairs_within) {
    return UsageError(
        "`nodes` * `edges_per_step` * `lifetime` edges must fill at most half of the "
        "pairs within communities (raise `nodes` or lower the others): ",
        edges * options.lifetime, " of ", std::llround(pairs_within));
  }
  return arrow::Status::OK();
}

}  // namespace

std::span<const GenerateFlag<SbmOptions>> SbmOptions::Flags() {
  using namespace setting_value;
  using generate::Declare;
  using Self = SbmOptions;
  static const std::vector<GenerateFlag<SbmOptions>> flags = {
      Declare("out", &Self::out, generate::Directory{}, "Output directory."),
      Declare("nodes", &Self::nodes, Integer<std::int64_t>{4, 1 << 30},
              "Number of nodes."),
      Declare("communities", &Self::communities, Integer<int>{2, 1 << 16},
              "Number of communities, which are the classes to predict."),
      Declare("features", &Self::features, Integer<int>{1, 4096}, "Features per node."),
      Declare("steps", &Self::steps, Integer<std::int64_t>{1, std::int64_t{1} << 40},
              "Number of time steps in the log."),
      Declare("edges_per_step", &Self::edges_per_step, Real{0, 1000, Real::kOpen},
              "New edges in each step, as a multiple of `nodes`."),
      Declare("lifetime", &Self::lifetime, Integer<int>{1, 1 << 20},
              "Steps after which an edge is deleted."),
      Declare("within", &Self::within, Real{0, 1, Real::kClosed},
              "Probability that an edge stays within a community."),
      Declare("switch", &Self::switch_probability, Real{0, 1, Real::kClosed},
              "Probability that a node changes its community in a step."),
      Declare("profiled", &Self::profiled, Real{0, 1, Real::kClosed},
              "Probability that a node has features; other nodes have zeros."),
      Declare("signal", &Self::signal, Real{0, 1e6, Real::kClosed},
              "Norm of a community's mean feature vector; the noise has standard "
              "deviation 1."),
      Declare("seed", &Self::seed, Integer<std::uint64_t>{0, std::uint64_t{1} << 53},
              "Seed for all random choices."),
  };
  return flags;
}

arrow::Result<GenerateSummary> GenerateSbm(const SbmOptions& options,
                                           const RunContext& context) {
  ARROW_RETURN_NOT_OK(Check(options));
  const auto metadata = generate::Provenance("sbm", options);
  Membership membership(options.nodes, options.communities,
                        Random(options.seed, kCommunity, /*row=*/0));
  ARROW_ASSIGN_OR_RAISE(auto features,
                        WriteProfiles(options, membership, metadata, context));
  ARROW_ASSIGN_OR_RAISE(EdgeWriter edges,
                        EdgeWriter::Open(options.out, /*with_op=*/true, metadata));
  ARROW_ASSIGN_OR_RAISE(LabelWriter labels, LabelWriter::Open(options.out, metadata));

  GenerateSummary summary;
  summary.num_nodes = options.nodes;
  const std::int64_t edges_per_step = EdgesPerStep(options);
  LiveEdges live;
  // The edges of the last `lifetime` steps, each in the order of insertion.
  std::vector<std::vector<Edge>> recent(
      std::min<std::int64_t>(options.lifetime, options.steps));
  context.progress->Begin("edges", "steps", options.steps);
  for (EventTime step = 0; step < options.steps; ++step) {
    Random switching(options.seed, kSwitch, step);
    for (NodeId node = 0; node < options.nodes; ++node) {
      const bool moves = step > 0 && switching.Uniform() < options.switch_probability;
      if (moves) membership.Switch(node, switching);
      if (step > 0 && !moves) continue;
      ARROW_RETURN_NOT_OK(labels.Append(node, membership.community(node), step));
      summary.num_label_changes += moves;
    }

    Random drawing(options.seed, kEdge, step);
    const std::vector<Edge> expiring = std::exchange(recent[step % recent.size()], {});
    std::vector<Edge>& fresh = recent[step % recent.size()];
    auto expired = expiring.begin();
    for (std::int64_t i = 0; i < edges_per_step; ++i) {
      if (i % generate::kBatchRows == 0) ARROW_RETURN_NOT_OK(context.stop.Poll());
      if (expired != expiring.end()) {
        live.Remove(*expired);
        ARROW_RETURN_NOT_OK(edges.Append(expired->src, expired->dst, step, /*op=*/-1));
        ++summary.num_deletes;
        ++expired;
      }
      if (const auto edge = DrawEdge(options, membership, live, drawing)) {
        fresh.push_back(*edge);
        ARROW_RETURN_NOT_OK(edges.Append(edge->src, edge->dst, step, /*op=*/1));
        ++summary.num_inserts;
      } else {
        ++summary.num_undrawn;
      }
    }
    context.progress->Advance(step + 1);
  }
  context.progress->End(std::to_string(summary.num_inserts) + " edges inserted, " +
                        std::to_string(summary.num_deletes) + " deleted, " +
                        std::to_string(summary.num_label_changes) +
                        " changes of community");
  if (summary.num_undrawn > 0) {
    context.progress->Note(std::to_string(summary.num_undrawn) +
                           " edges were left out: the graph is too dense to place them");
  }

  ARROW_ASSIGN_OR_RAISE(summary.files.emplace_back(), edges.Close());
  ARROW_ASSIGN_OR_RAISE(summary.files.emplace_back(), features->Close());
  ARROW_ASSIGN_OR_RAISE(summary.files.emplace_back(), labels.Close());
  return summary;
}

}  // namespace coden
