// Random graphs, event sequences and settings.
//
// What is drawn is a Case: settings and a list of steps that mean something whatever the
// steps before them are, so that rapidcheck may leave out any of them or make any number
// smaller while it looks for the smallest case that fails. `Resolve` makes a log of it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include <rapidcheck.h>

#include "coden/embed/embedding_engine.h"
#include "coden/graph/event_graph.h"

namespace coden::property {

enum class Shape { kUniform, kStar, kPath, kParts, kClique, kDag };
enum class FeatureKind { kOnes, kSmall, kSparse, kNormal, kZeros };

struct Step {
  enum Kind { kEdge, kFeatures, kEnd, kArrive };
  Kind kind = kEdge;
  int src = 0;  ///< ends count modulo the nodes that have arrived
  int dst = 0;
  int gap = 0;           ///< time that passes before
  bool removes = false;  ///< what a signed event does
};

struct Case {
  int num_nodes = 1;
  int first_nodes = 1;  ///< the others arrive later
  Shape shape = Shape::kUniform;
  GraphOptions graph;
  EmbedOptions embed;
  SolverChoice solver = SolverChoice::kAutomatic;
  int num_columns = 1;
  int threads = 1;
  FeatureKind features = FeatureKind::kOnes;
  float feature_scale = 1.0f;
  std::uint32_t seed = 0;  ///< of features, and of what a property draws besides
  std::vector<Step> steps;
};

/// A row of the log or, where `vector` is not empty, new features of `event.src`.
struct Item {
  EdgeEvent event;
  std::vector<float> vector;
  bool is_event() const { return vector.empty(); }
};

struct Batch {
  std::vector<Item> items;
  EventTime end = 0;     ///< no item of it is later
  NodeId num_nodes = 0;  ///< that have arrived
};

/// The log of a case. Times do not fall, and lie above those of the batches before: equal
/// times are never split. Deletions find their edge, unless the graph is lenient.
struct Log {
  std::vector<std::vector<float>> features;  ///< by node, from the start
  std::vector<Batch> batches;
};

Log Resolve(const Case& setup);

/// What a generator may draw.
struct CaseRules {
  bool windows = true;
  bool extremes = false;  ///< settings that float64 cannot always hold
};

/// From `begin` and below `end`, in small cases and in large ones: rapidcheck's own
/// narrows the range while cases are small, and settings have no size.
inline rc::Gen<int> Between(int begin, int end) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(begin, end));
}

rc::Gen<Case> AnyCase(const CaseRules& rules = {});

void showValue(const Case& setup, std::ostream& os);

}  // namespace coden::property
