// Label columns: training labels that travel over the graph as features do, so that every
// node has, by class, the share of known labels that reaches it (label propagation with
// restart), up to date at every snapshot by the incremental engine.
//
// A node must not see its own label, or a model learns to read it there and fails on
// nodes without one. So the training nodes are split into K folds, and a node of fold j
// reads what the labels of all other folds send:
//
//     r_j = z_1 + ... + z_K - z_j,   z_f = alpha (I - (1-alpha) P)^-1 y_f,
//
// with y_f the one-hot labels of fold f alone. A node that is not in training has no fold
// to leave out and reads the mean of r_1 ... r_K, which is (K-1)/K of the sum of all z_f:
// as much evidence as training nodes have. By linearity these are the numbers of K column
// sets that lack one fold each; to keep the folds apart instead makes columns that are
// K-1 times sparser, and one label enters one column, not K-1.
//
// r_j is summed over the other folds, in their order: the difference of the total and z_j
// would carry rounding that depends on fold j. A column's bits do not depend on the
// columns beside it, and the engine's choices depend on how many labels changed, not on
// what they are. So the classes of fold j, one's own among them, change no bit of r_j.
//
// Stacking predictions of left-out folds is due to Wolpert, Stacked Generalization,
// Neural Networks 5, 1992; labels as inputs of a graph model to Shi et al., Masked Label
// Prediction, IJCAI 2021.

#include "coden/embed/label_embedder.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <utility>

#include "coden/base/error.h"
#include "embed/snapshot_update_internal.h"

namespace coden {

namespace {

// Rows whose folds are held side by side while they are summed.
constexpr std::size_t kRowsAtOnce = 1 << 14;

constexpr int kNoFold = -1;
constexpr int kNoColumn = -1;

arrow::Status Check(const LabelEmbedderOptions& options, std::span<const LabelSeed> seeds,
                    NodeId num_nodes) {
  if (options.num_folds < 1) {
    return UsageError("label columns need at least 1 fold: ", options.num_folds);
  }
  if (options.num_classes < 1 || options.alphas.empty() || options.windows.empty())
    return UsageError("label columns need a class, an alpha and a window at least");
  for (const LabelSeed& seed : seeds) {
    if (seed.node < 0 || seed.node >= num_nodes || seed.fold < 0 ||
        seed.fold >= options.num_folds || seed.label < -1 ||
        seed.label >= options.num_classes) {
      return arrow::Status::Invalid("a label lies outside ", num_nodes, " nodes, ",
                                    options.num_folds, " folds and ", options.num_classes,
                                    " classes: node ", seed.node, ", fold ", seed.fold,
                                    ", class ", seed.label);
    }
  }
  return arrow::Status::OK();
}

}  // namespace

LabelEmbedder::LabelEmbedder(const LabelEmbedderOptions& options,
                             const Schedule& schedule, std::vector<LabelSeed> seeds,
                             const std::shared_ptr<const NodeTimes>& times,
                             std::vector<std::unique_ptr<GraphSource>> graphs)
    : options_(options),
      schedule_(schedule),
      seeds_(std::move(seeds)),
      folds_(times->since.size(), kNoFold),
      columns_(times->since.size(), kNoColumn) {
  for (std::unique_ptr<GraphSource>& source : graphs) {
    Window& added = windows_.emplace_back(
        Window{std::move(source), SnapshotGraph(options.graph.directed), {}});
    added.graph.Grow(num_nodes());
    added.engines.reserve(options.alphas.size());
    for (const double alpha : options.alphas) {
      EmbeddingEngine& engine =
          added.engines.emplace_back(EmbedOptionsOf(alpha), num_columns());
      engine.Grow(num_nodes());
      engine.SetArrivals({times, &times->arrivals});
    }
  }
}

arrow::Result<std::unique_ptr<LabelEmbedder>> LabelEmbedder::Make(
    const LabelEmbedderOptions& options, const Schedule& schedule,
    std::vector<LabelSeed> seeds, const std::shared_ptr<const NodeTimes>& times,
    std::vector<std::unique_ptr<GraphSource>> graphs) {
  ARROW_RETURN_NOT_OK(Check(options, seeds, static_cast<NodeId>(times->since.size())));
  if (graphs.size() != options.windows.size()) {
    return arrow::Status::Invalid("label columns have ", options.windows.size(),
                                  " windows and ", graphs.size(), " graphs");
  }
  std::stable_sort(
      seeds.begin(), seeds.end(),
      [](const LabelSeed& a, const LabelSeed& b) { return a.from < b.from; });
  std::unique_ptr<LabelEmbedder> embedder(
      new LabelEmbedder(options, schedule, std::move(seeds), times, std::move(graphs)));
  for (const LabelSeed& seed : embedder->seeds_) {
    int& fold = embedder->folds_[seed.node];
    if (fold != kNoFold && fold != seed.fold) {
      return arrow::Status::Invalid(
          "a node has labels of two folds, and would read one "
          "of them: node ",
          seed.node, ", folds ", fold, " and ", seed.fold);
    }
    fold = seed.fold;
  }
  return embedder;
}

int LabelEmbedder::width() const {
  return static_cast<int>(options_.windows.size() * options_.alphas.size()) *
         options_.num_classes;
}

EmbedOptions LabelEmbedder::EmbedOptionsOf(double alpha) const {
  EmbedOptions embed = options_.embed;
  embed.alpha = alpha;
  return embed;
}

void LabelEmbedder::CopyRows(std::span<const NodeId> nodes, float* out) const {
  const auto num_columns = static_cast<std::size_t>(this->num_columns());
  const int num_folds = options_.num_folds;
  const int num_classes = options_.num_classes;
  const double mean = num_folds > 1 ? (num_folds - 1.0) / num_folds : 1.0;
  std::vector<float> by_fold(std::min(nodes.size(), kRowsAtOnce) * num_columns);
  std::vector<double> rounding(num_columns);
  for (std::size_t first = 0; first < nodes.size(); first += kRowsAtOnce) {
    const auto part = nodes.subspan(first, std::min(kRowsAtOnce, nodes.size() - first));
    float* to = out + first * width();
    for (const Window& window : windows_) {
      for (const EmbeddingEngine& engine : window.engines) {
        engine.CopyRows(part, by_fold.data(), rounding);
        tbb::parallel_for(std::size_t{0}, part.size(), [&](std::size_t i) {
          const float* const from = by_fold.data() + i * num_columns;
          const int own = folds_[part[i]];
          for (int label = 0; label < num_classes; ++label) {
            double sum = 0.0;
            for (int fold = 0; fold < num_folds; ++fold)
              if (fold != own) sum += from[fold * num_classes + label];
            to[i * width() + label] =
                static_cast<float>(own == kNoFold ? mean * sum : sum);
          }
        });
        to += num_classes;
      }
    }
  }
}

arrow::Status LabelEmbedder::Run() {
  while (next_point_ < schedule_.size())
    ARROW_RETURN_NOT_OK(Take(schedule_[next_point_++]));
  return arrow::Status::OK();
}

arrow::Status LabelEmbedder::ContinueAfter(int num_snapshots,
                                           std::span<const int> columns) {
  next_point_ = static_cast<std::size_t>(num_snapshots);
  const SchedulePoint* const last =
      next_point_ == 0 ? nullptr : &schedule_[next_point_ - 1];
  for (Window& window : windows_) {
    if (last == nullptr) break;
    ARROW_RETURN_NOT_OK(window.source->Load(last->snapshot + 1, window.graph));
  }
  for (NodeId node = 0; node < static_cast<NodeId>(columns.size()); ++node) {
    if (columns[node] == kNoColumn) continue;
    // A node that has lost its label is still not to read it.
    const int fold = columns[node] / options_.num_classes;
    if (folds_[node] == kNoFold) folds_[node] = fold;
    if (folds_[node] != fold) {
      return arrow::Status::Invalid(
          "a node has changed its fold since its label was used: node ", node, ", folds ",
          fold, " and ", folds_[node]);
    }
    SetColumn(node, columns[node]);
  }
  std::vector<int> known(folds_.size(), kNoColumn);
  for (; last != nullptr && next_seed_ < seeds_.size() &&
         seeds_[next_seed_].from <= last->time;
       ++next_seed_) {
    known[seeds_[next_seed_].node] = ColumnOf(seeds_[next_seed_]);
  }
  for (NodeId node = 0; node < num_nodes(); ++node) {
    if (known[node] != columns_[node]) late_.push_back({node, known[node]});
  }
  return arrow::Status::OK();
}

void LabelEmbedder::SetColumn(NodeId node, int column) {
  columns_[node] = column;
  std::vector<float> vector(num_columns(), 0.0f);
  if (column != kNoColumn) vector[column] = 1.0f;
  for (Window& window : windows_) {
    for (EmbeddingEngine& engine : window.engines) engine.SetFeatures(node, vector);
  }
}

arrow::Status LabelEmbedder::Take(const SchedulePoint& point) {
  for (const auto& [node, column] : std::exchange(late_, {})) SetColumn(node, column);
  // A label that is set to what it was counts as changed, too: see the head of the file.
  for (; next_seed_ < seeds_.size() && seeds_[next_seed_].from <= point.time;
       ++next_seed_) {
    const LabelSeed& seed = seeds_[next_seed_];
    SetColumn(seed.node, ColumnOf(seed));
  }
  for (Window& window : windows_) {
    ARROW_RETURN_NOT_OK(window.source->AdvanceTo(point.snapshot, window.graph));
    for (std::size_t i = 0; i < window.engines.size(); ++i) {
      ARROW_RETURN_NOT_OK(UpdateAt(point, window.graph,
                                   EmbedOptionsOf(options_.alphas[i]), options_.stop,
                                   window.engines[i]));
    }
    window.graph.Settle();
  }
  return options_.after_snapshot ? options_.after_snapshot(point) : arrow::Status::OK();
}

}  // namespace coden
