#include "property/log_case.h"

#include <algorithm>
#include <ostream>
#include <random>

#include "property/model_graph.h"

namespace coden::property {

namespace {

constexpr int kMostNodes = 40;
constexpr double kStepsPerSize = 2.5;

// Draw an index and look it up: cases shrink towards the first entry.
template <typename T>
rc::Gen<T> FirstOf(std::vector<T> table) {
  const int size = static_cast<int>(table.size());
  return rc::gen::map(Between(0, size),
                      [table = std::move(table)](int index) { return table[index]; });
}

rc::Gen<Step> AnyStep() {
  return rc::gen::map(rc::gen::tuple(Between(0, 24), Between(0, 64), Between(0, 64),
                                     Between(0, 8), Between(0, 3)),
                      [](const std::tuple<int, int, int, int, int>& drawn) {
                        const auto& [kind, src, dst, gap, removes] = drawn;
                        Step step;
                        step.kind = kind < 17   ? Step::kEdge
                                    : kind < 19 ? Step::kFeatures
                                    : kind < 23 ? Step::kEnd
                                                : Step::kArrive;
                        step.src = src;
                        step.dst = dst;
                        step.gap = std::max(
                            0, gap - 4);  // most rows share their time with the last
                        step.removes = removes == 2;
                        return step;
                      });
}

struct GraphDraw {
  GraphOptions graph;
  Propagation propagation = Propagation::kMass;
};

rc::Gen<GraphDraw> AnyGraph(bool windows) {
  return rc::gen::map(
      rc::gen::tuple(FirstOf<EventMode>(
                         {EventMode::kInsert, EventMode::kToggle, EventMode::kSigned}),
                     Between(0, 2), Between(0, 2), Between(0, 2), Between(0, 40),
                     Between(0, 3)),
      [windows](const std::tuple<EventMode, int, int, int, int, int>& drawn) {
        const auto& [events, directed, self_loops, lenient, window, propagation] = drawn;
        GraphDraw draw;
        draw.graph = {.events = events,
                      .directed = directed == 1,
                      .self_loops = self_loops == 1,
                      .lenient = lenient == 1 && events == EventMode::kSigned,
                      .window = 0};
        // What Validate(Settings) permits.
        if (windows && events == EventMode::kInsert) draw.graph.window = window % 20;
        if (directed == 0) draw.propagation = static_cast<Propagation>(propagation);
        return draw;
      });
}

rc::Gen<double> AnyAlpha() {
  return rc::gen::map(
      rc::gen::pair(Between(0, 12), Between(1, 1000)),
      [](const std::pair<int, int>& drawn) {
        constexpr double kUsual[] = {0.2, 0.5, 0.85, 0.05, 0.15, 0.01, 0.002, 0.999};
        return drawn.first < 8 ? kUsual[drawn.first] : drawn.second / 1000.0;
      });
}

float FeatureOf(FeatureKind kind, std::mt19937& random) {
  switch (kind) {
    case FeatureKind::kOnes:
      return 1.0f;
    case FeatureKind::kSmall:
      return 0.25f * static_cast<float>(static_cast<int>(random() % 33) - 16);
    case FeatureKind::kSparse:
      return random() % 5 == 0 ? static_cast<float>(random() % 1000) * 0.01f : 0.0f;
    case FeatureKind::kNormal:
      return std::normal_distribution<float>()(random);
    case FeatureKind::kZeros:
      break;
  }
  return 0.0f;
}

std::vector<float> VectorOf(const Case& setup, NodeId node, int version) {
  std::seed_seq seeds{setup.seed, static_cast<std::uint32_t>(node),
                      static_cast<std::uint32_t>(version)};
  std::mt19937 random(seeds);
  std::vector<float> vector(setup.num_columns);
  for (float& value : vector)
    value = setup.feature_scale * FeatureOf(setup.features, random);
  // Constant features would never change.
  if (version > 0 && setup.features == FeatureKind::kOnes) {
    for (float& value : vector) value *= static_cast<float>(version % 5) - 1.5f;
  }
  return vector;
}

struct Ends {
  NodeId src, dst;
};

Ends EndsOf(Shape shape, const Step& step, int known) {
  Ends ends{step.src % known, step.dst % known};
  switch (shape) {
    case Shape::kUniform:
      break;
    case Shape::kStar:
      (step.removes ? ends.src : ends.dst) = 0;
      break;
    case Shape::kPath:
      ends.dst = (ends.src + 1) % known;
      break;
    case Shape::kParts:
      ends.dst -= ends.dst % 4;
      ends.dst += ends.src % 4;
      if (ends.dst >= known) ends.dst = ends.src;
      break;
    case Shape::kClique:
      ends.src %= 7;
      ends.dst %= 7;
      break;
    case Shape::kDag:  // the last nodes of it are dangling
      if (ends.src > ends.dst) std::swap(ends.src, ends.dst);
      break;
  }
  return ends;
}

const char* NameOf(EventKind kind) {
  return kind == EventKind::kInsert   ? "insert"
         : kind == EventKind::kDelete ? "delete"
                                      : "toggle";
}

}  // namespace

Log Resolve(const Case& setup) {
  Log log;
  log.features.resize(setup.num_nodes);
  for (NodeId node = 0; node < setup.num_nodes; ++node) {
    // Some nodes have no features, as in a log whose feature file has gaps.
    if ((setup.seed + node) % 4 != 3) log.features[node] = VectorOf(setup, node, 0);
  }
  ModelGraph model(setup.graph);
  NodeId known = std::min(setup.first_nodes, setup.num_nodes);
  EventTime time = 0;
  int version = 0;
  Batch batch;
  const auto finish = [&] {
    batch.end = time;
    batch.num_nodes = known;
    model.ExpireUntil(time);
    log.batches.push_back(std::move(batch));
    batch = {};
    ++time;
  };
  for (const Step& step : setup.steps) {
    time += step.gap;
    if (step.kind == Step::kEnd) {
      finish();
    } else if (step.kind == Step::kArrive) {
      known = std::min(known + 1 + step.src % 3, setup.num_nodes);
    } else if (step.kind == Step::kFeatures) {
      const NodeId node = step.src % known;
      batch.items.push_back(
          {{node, kNoNode, time}, VectorOf(setup, node, 1 + version++)});
    } else {
      const auto [src, dst] = EndsOf(setup.shape, step, known);
      EdgeEvent event{src, dst, time, EventKind::kInsert};
      if (setup.graph.events == EventMode::kToggle) event.kind = EventKind::kToggle;
      if (setup.graph.events == EventMode::kSigned && step.removes) {
        event.kind = EventKind::kDelete;
        if (!setup.graph.lenient) {
          const auto& edges = model.edges();
          if (edges.empty()) {
            event.kind = EventKind::kInsert;
          } else {
            const auto at = std::next(edges.begin(), (step.src * 64 + step.dst) %
                                                         static_cast<int>(edges.size()));
            event.src = at->first.first;
            event.dst = at->first.second;
          }
        }
      }
      model.Apply(event);
      batch.items.push_back({event, {}});
    }
  }
  finish();
  return log;
}

rc::Gen<Case> AnyCase(const CaseRules& rules) {
  std::vector<double> epsilons = {1e-7, 1e-2, 0.1, 1.0, 1e-4, 1e-9, 1e-11, 0.3};
  std::vector<float> scales = {1.0f, 1.0f, 1e-3f, 100.0f};
  if (rules.extremes) {
    epsilons.insert(epsilons.end(), {1e-14, 1e-13});
    scales.insert(scales.end(), {1e6f, 1e20f});
  }
  const auto settings = rc::gen::tuple(
      AnyGraph(rules.windows), AnyAlpha(), FirstOf(epsilons), FirstOf(scales),
      FirstOf<SolverChoice>({SolverChoice::kAutomatic, SolverChoice::kAutomatic,
                             SolverChoice::kSweeps, SolverChoice::kPush}),
      Between(0, 32), Between(1, 5), Between(0, 1 << 16));
  const auto graph = rc::gen::tuple(
      Between(0, 2), Between(1, kMostNodes + 1), Between(1, kMostNodes + 1),
      rc::gen::map(Between(0, 6), [](int shape) { return static_cast<Shape>(shape); }),
      rc::gen::map(Between(0, 5),
                   [](int kind) { return static_cast<FeatureKind>(kind); }),
      rc::gen::scale(kStepsPerSize, rc::gen::container<std::vector<Step>>(AnyStep())));
  return rc::gen::map(rc::gen::pair(settings, graph), [](const auto& drawn) {
    const auto& [draw, alpha, epsilon, scale, solver, columns, threads, seed] =
        drawn.first;
    const auto& [many, nodes, first, shape, kind, steps] = drawn.second;
    Case setup;
    setup.graph = draw.graph;
    setup.embed.propagation = draw.propagation;
    setup.embed.alpha = alpha;
    setup.embed.epsilon = epsilon;
    setup.feature_scale = scale;
    setup.solver = solver;
    // Of a few cases there is more than one block of columns.
    setup.num_columns = columns < 28 ? 1 + columns % 6 : columns - 12;
    setup.threads = threads;
    setup.seed = static_cast<std::uint32_t>(seed);
    setup.num_nodes = many == 1 ? nodes : 1 + nodes % 8;
    setup.first_nodes = first;
    setup.shape = shape;
    setup.features = kind;
    setup.steps = steps;
    return setup;
  });
}

void showValue(const Case& setup, std::ostream& os) {
  const char* const events[] = {"insert", "toggle", "signed"};
  const char* const kinds[] = {"mass", "average", "symmetric"};
  const char* const solvers[] = {"automatic", "sweeps", "push"};
  os << "graph: " << events[static_cast<int>(setup.graph.events)]
     << (setup.graph.directed ? ", directed" : ", undirected")
     << (setup.graph.self_loops ? ", self loops" : "")
     << (setup.graph.lenient ? ", lenient" : "") << ", window " << setup.graph.window
     << "\nembed: alpha " << setup.embed.alpha << ", epsilon " << setup.embed.epsilon
     << ", " << kinds[static_cast<int>(setup.embed.propagation)] << ", solver "
     << solvers[static_cast<int>(setup.solver)] << ", threads " << setup.threads
     << ", seed " << setup.seed << "\n";
  const auto show = [&os](const std::vector<float>& vector) {
    os << "[";
    for (const float value : vector) os << " " << value;
    os << " ]\n";
  };
  const Log log = Resolve(setup);
  for (std::size_t node = 0; node < log.features.size(); ++node) {
    os << "x(" << node << ") = ";
    show(log.features[node]);
  }
  for (std::size_t k = 0; k < log.batches.size(); ++k) {
    const Batch& batch = log.batches[k];
    for (const Item& item : batch.items) {
      os << "time " << item.event.time << ": ";
      if (item.is_event()) {
        os << NameOf(item.event.kind) << " " << item.event.src << " -> " << item.event.dst
           << "\n";
      } else {
        os << "x(" << item.event.src << ") = ";
        show(item.vector);
      }
    }
    os << "-- end of batch " << k << " at " << batch.end << ", " << batch.num_nodes
       << " nodes\n";
  }
}

}  // namespace coden::property
