// A sequence of events, feature changes and updates, decoded from bytes, on a graph of at
// most twelve nodes. After every update the error of each column against exact dense PPR
// is within the bound that the engine claims, and that within n * epsilon; the audit
// agrees; the graph is the one that a plain set of edges with their last insertions
// gives; and an engine that was put back from its memory goes on with the same bits.

#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tbb/task_arena.h>

#include "bytes.h"
#include "check.h"
#include "coden/base/printable.h"
#include "coden/embed/embedding_engine.h"
#include "coden/graph/event_graph.h"
#include "coden/graph/unobserved.h"
#include "support/dense_ppr.h"

namespace coden::fuzz {

namespace {

using test::ArcSet;
using test::Matrix;

constexpr NodeId kMostNodes = 12;
constexpr int kMostSteps = 96;
constexpr int kMostUpdates = 8;

/// What the graph should be: edges with the time of their last insertion.
class PlainGraph {
 public:
  explicit PlainGraph(const GraphOptions& options) : options_(options) {}

  /// False where a row deletes an edge that is absent and this is an error.
  bool Apply(EdgeEvent event) {
    ExpireUntil(event.time);
    if (event.src == event.dst && !options_.self_loops) return true;
    if (!options_.directed && event.src > event.dst) std::swap(event.src, event.dst);
    const std::pair key(event.src, event.dst);
    const bool present = inserted_.contains(key);
    const bool inserts = event.kind == EventKind::kInsert ||
                         (event.kind == EventKind::kToggle && !present);
    if (inserts) {
      inserted_[key] = event.time;
    } else if (!present) {
      return options_.lenient;
    } else {
      inserted_.erase(key);
    }
    return true;
  }

  void ExpireUntil(EventTime time) {
    if (options_.window == 0) return;
    std::erase_if(inserted_, [&](const auto& edge) {
      return time >= options_.window && edge.second <= time - options_.window;
    });
  }

  std::int64_t num_edges() const { return static_cast<std::int64_t>(inserted_.size()); }

  ArcSet Arcs() const {
    ArcSet arcs;
    for (const auto& [edge, time] : inserted_) {
      arcs.insert(edge);
      if (!options_.directed) arcs.insert({edge.second, edge.first});
    }
    return arcs;
  }

 private:
  GraphOptions options_;
  std::map<std::pair<NodeId, NodeId>, EventTime> inserted_;
};

GraphOptions MakeGraphOptions(Bytes& bytes) {
  GraphOptions options;
  options.events = EventMode::kSigned;
  options.directed = bytes.Flag();
  options.self_loops = bytes.Flag();
  options.lenient = bytes.Flag();
  options.window = bytes.Flag() ? std::max<EventTime>(bytes.Integer(), 0) : 0;
  return options;
}

EmbedOptions MakeEmbedOptions(Bytes& bytes, bool directed) {
  constexpr std::array kAlphas = {0.2, 0.05, 0.85, 0.002, 0.5, 0.999, 0.02, 0.1};
  constexpr std::array kEpsilons = {1e-7, 0.1, 0.01, 1e-5, 3e-8, 1e-9, 1e-11, 1.0};
  constexpr std::array kPropagations = {Propagation::kMass, Propagation::kAverage,
                                        Propagation::kSymmetric};
  EmbedOptions options;
  options.alpha = bytes.Pick(kAlphas);
  options.epsilon = bytes.Pick(kEpsilons);
  options.propagation = bytes.Pick(kPropagations);
  if (directed) options.propagation = Propagation::kMass;
  return options;
}

class Sequence {
 public:
  explicit Sequence(Bytes& bytes)
      : bytes_(bytes),
        graph_options_(MakeGraphOptions(bytes)),
        embed_options_(MakeEmbedOptions(bytes, graph_options_.directed)),
        solver_(bytes.Pick(std::array{SolverChoice::kAutomatic, SolverChoice::kSweeps,
                                      SolverChoice::kPush})),
        num_columns_(1 + bytes.Below(9)),
        events_(graph_options_),
        graph_(graph_options_.directed),
        plain_(graph_options_),
        engine_(embed_options_, num_columns_, solver_) {
    events_.RecordTo(&changes_);
  }

  void Run() {
    Grow(1 + bytes_.Below(kMostNodes));
    for (int step = 0; step < kMostSteps && !bytes_.empty(); ++step) {
      switch (bytes_.Below(8)) {
        case 0:
          if (!Update()) return;
          break;
        case 1:
          SetFeatures(Node());
          break;
        case 2:
          Grow(num_nodes_ + 1);
          break;
        case 3:
          time_ = Later();
          events_.ExpireUntil(time_, nobody_);
          plain_.ExpireUntil(time_);
          break;
        default:
          Event();
      }
    }
    Update();
  }

 private:
  NodeId Node() { return bytes_.Below(num_nodes_); }

  EventTime Later() {
    const std::int64_t step = std::max<std::int64_t>(bytes_.Integer(), 0);
    return step > std::numeric_limits<EventTime>::max() - time_ ? time_ : time_ + step;
  }

  void Grow(NodeId num_nodes) {
    num_nodes = std::min(num_nodes, kMostNodes);
    if (num_nodes <= num_nodes_) return;
    features_.resize(num_nodes, std::vector<double>(num_columns_, 0.0));
    engine_.Grow(num_nodes);
    if (twin_) twin_->Grow(num_nodes);
    graph_.Grow(num_nodes);
    num_nodes_ = num_nodes;
  }

  void SetFeatures(NodeId node) {
    std::vector<float> vector(num_columns_);
    const bool sparse = bytes_.Flag();
    for (int column = 0; column < num_columns_; ++column) {
      vector[column] = static_cast<float>(static_cast<std::int8_t>(bytes_.Byte())) / 32;
      if (sparse && column % 2 == 1) vector[column] = 0.0f;
      features_[node][column] = vector[column];
    }
    engine_.SetFeatures(node, vector);
    if (twin_) twin_->SetFeatures(node, vector);
  }

  void Event() {
    constexpr std::array kKinds = {EventKind::kToggle, EventKind::kInsert,
                                   EventKind::kDelete};
    EdgeEvent event{Node(), Node(), time_, bytes_.Pick(kKinds)};
    if (bytes_.Below(4) == 0) event.time = time_ = Later();
    const bool expected = plain_.Apply(event);
    const arrow::Status status = events_.Apply(event, nobody_);
    FUZZ_CHECK(status.ok() == expected, "a deletion: " + status.ToString());
  }

  // False after so many that the rest of the input is left.
  bool Update() {
    const arrow::Status status = graph_.Apply(changes_.Take());
    FUZZ_CHECK(status.ok(), "net changes: " + status.ToString());
    CheckGraph();
    engine_.Update(graph_);
    if (twin_) {
      twin_->Update(graph_);
      CheckTwin();
    }
    graph_.Settle();
    CheckEmbedding();
    CheckPromise();
    if (bytes_.Below(4) == 0) {
      const double ratio = engine_.Audit(graph_);
      FUZZ_CHECK(ratio <= 1.0 + 1e-6, "the audit: " + std::to_string(ratio));
      CheckEmbedding();
      twin_.reset();
    }
    if (bytes_.Below(4) == 0) PutBack();
    return ++num_updates_ < kMostUpdates;
  }

  void CheckGraph() const {
    FUZZ_CHECK(test::ArcsOf(graph_) == plain_.Arcs(), "the arcs differ");
    FUZZ_CHECK(events_.num_edges() == plain_.num_edges(), "the number of edges differs");
  }

  void CheckEmbedding() const {
    const Matrix exact =
        test::ExactEmbedding(plain_.Arcs(), features_, embed_options_.alpha,
                             test::PowerOf(embed_options_.propagation));
    const std::vector<double> bounds = engine_.ErrorBounds();
    for (int column = 0; column < num_columns_; ++column) {
      double error = 0.0;
      for (NodeId node = 0; node < num_nodes_; ++node) {
        error += std::abs(engine_.Value(node, column) - exact[node][column]);
      }
      FUZZ_CHECK(error <= bounds[column] + 1e-12,
                 "column " + std::to_string(column) + " is off by " +
                     FormatShortest(error) + ", above " + FormatShortest(bounds[column]));
    }
  }

  // An audit may know less than what was proven, so this holds after an update alone.
  void CheckPromise() const {
    for (const double bound : engine_.ErrorBounds()) {
      FUZZ_CHECK(bound <= num_nodes_ * embed_options_.epsilon,
                 "a column has the bound " + FormatShortest(bound) + " of " +
                     std::to_string(num_nodes_) + " nodes");
    }
  }

  // Make another engine of what this one remembers.
  void PutBack() {
    twin_.emplace(embed_options_, num_columns_, solver_);
    twin_->Grow(num_nodes_);
    for (NodeId node = 0; node < num_nodes_; ++node) {
      const std::vector<float> vector(features_[node].begin(), features_[node].end());
      twin_->SetFeatures(node, vector);
    }
    const std::vector<NodeId> connected = engine_.ConnectedNodes();
    twin_->Restore(graph_, connected, engine_.Memory());
    std::vector<double> numbers(connected.size());
    for (int column = 0; column < num_columns_; ++column) {
      engine_.CopyNumbers(column, 0, numbers);
      twin_->RestoreNumbers(column, 0, numbers);
    }
    CheckTwin();
  }

  void CheckTwin() const {
    for (NodeId node = 0; node < num_nodes_; ++node) {
      for (int column = 0; column < num_columns_; ++column) {
        FUZZ_CHECK(std::bit_cast<std::uint64_t>(engine_.Value(node, column)) ==
                       std::bit_cast<std::uint64_t>(twin_->Value(node, column)),
                   "an engine that was put back differs at node " + std::to_string(node));
      }
    }
  }

  Bytes& bytes_;
  const GraphOptions graph_options_;
  const EmbedOptions embed_options_;
  const SolverChoice solver_;
  const int num_columns_;
  Unobserved nobody_;
  BasicEventGraph<DegreeGraph> events_;
  NetChanges changes_;
  SnapshotGraph graph_;
  PlainGraph plain_;
  EmbeddingEngine engine_;
  std::optional<EmbeddingEngine> twin_;
  Matrix features_;
  NodeId num_nodes_ = 0;
  EventTime time_ = 0;
  int num_updates_ = 0;
};

}  // namespace

}  // namespace coden::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static tbb::task_arena arena(/*max_concurrency=*/1);
  arena.execute([&] {
    coden::fuzz::Bytes bytes(data, size);
    coden::fuzz::Sequence(bytes).Run();
  });
  return 0;
}
