// What is undone leaves no trace: batches taken back one after the other, edges toggled
// twice. And what is only called by another name is the same.

#include <algorithm>
#include <numeric>
#include <random>

#include "property/engine_replay.h"

namespace coden::property {
namespace {

using Edges = std::map<ModelGraph::Edge, EventTime>;

// Edges that one of the two has and the other has not, in random order.
std::vector<ModelGraph::Edge> Difference(const Edges& left, const Edges& right,
                                         std::mt19937& random) {
  std::vector<ModelGraph::Edge> edges;
  for (const auto& [edge, time] : left) {
    if (!right.contains(edge)) edges.push_back(edge);
  }
  for (const auto& [edge, time] : right) {
    if (!left.contains(edge)) edges.push_back(edge);
  }
  std::shuffle(edges.begin(), edges.end(), random);
  return edges;
}

// Declined undoes inclined: start with all batches, take them back, the last one first.
TEST(ReversalProperty, DeclinedUndoesInclined) {
  CheckProperty({500}, [](Tally& tally) {
    const Case setup = *AnyCase({.windows = false});
    const Threads threads(setup.threads);
    const Log log = Resolve(setup);
    EngineReplay replay(setup, log);
    struct Moment {
      Edges edges;
      test::ArcSet arcs;
      Said said;
      std::vector<Column> features;  // by column
    };
    const auto features = [&] {
      std::vector<Column> columns;
      for (int column = 0; column < setup.num_columns; ++column)
        columns.push_back(replay.Features(column));
      return columns;
    };
    std::vector<Moment> moments;
    for (const Batch& batch : log.batches) {
      replay.Run(batch);
      moments.push_back({replay.model().edges(), replay.model().Arcs(),
                         WhatIsSaid(replay), features()});
    }
    std::mt19937 random(setup.seed);
    const EventTime end = log.batches.back().end;
    for (std::size_t k = moments.size() - 1; k-- > 0;) {
      const Moment& then = moments[k];
      for (const auto& [src, dst] :
           Difference(replay.model().edges(), then.edges, random)) {
        replay.Apply({src, dst, end, EventKind::kToggle});
        tally.Add("edges taken back");
      }
      const auto num_nodes = static_cast<NodeId>(then.features[0].size());
      for (NodeId node = 0; node < num_nodes; ++node) {
        std::vector<float> vector;
        for (const Column& column : then.features)
          vector.push_back(static_cast<float>(column[node]));
        replay.SetFeatures(node, vector);
      }
      replay.Update();
      RC_ASSERT(test::ArcsOf(replay.graph()) == then.arcs);
      AssertWithinBounds(WhatIsSaid(replay), then.said);
      tally.Add("batches taken back");
    }
  });
}

TEST(ReversalProperty, TogglingTwiceInOneBatchLeavesNoBitChanged) {
  CheckProperty({500}, [](Tally& tally) {
    Case setup = *AnyCase({.windows = false});
    // Sweeps that are asked for by name are made whatever has changed.
    if (setup.solver == SolverChoice::kSweeps) setup.solver = SolverChoice::kAutomatic;
    const Threads threads(setup.threads);
    const Log log = Resolve(setup);
    EngineReplay replay(setup, log);
    const auto pairs = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 64), rc::gen::inRange(0, 64)));
    for (const Batch& batch : log.batches) {
      replay.Run(batch);
      if (!replay.EpsilonIsAttainable()) {
        tally.Add("batches whose epsilon float64 cannot hold");
        continue;
      }
      const Said before = WhatIsSaid(replay);
      const test::ArcSet arcs = replay.model().Arcs();
      std::vector<EdgeEvent> toggles;
      for (const auto& [src, dst] : pairs) {
        toggles.push_back({src % batch.num_nodes, dst % batch.num_nodes, batch.end,
                           EventKind::kToggle});
      }
      for (const EdgeEvent& toggle : toggles) replay.Apply(toggle);
      std::rotate(toggles.begin(), toggles.begin() + toggles.size() / 2, toggles.end());
      for (const EdgeEvent& toggle : toggles) replay.Apply(toggle);
      const SolveWork work = replay.Update();
      RC_ASSERT(test::ArcsOf(replay.graph()) == arcs);
      RC_ASSERT(work.pushes + work.sweeps + work.proving_sweeps == 0);
      AssertSameBits(WhatIsSaid(replay), before);
      tally.Add("edges toggled twice", static_cast<std::int64_t>(pairs.size()));
    }
  });
}

// Anywhere in a log of toggles, other toggles of the same edge between the two or not.
TEST(ReversalProperty, TogglingTwiceAnywhereIsNothing) {
  CheckProperty({500}, [](Tally& tally) {
    Case setup = *AnyCase({.windows = false});
    setup.graph.events = EventMode::kToggle;
    const Threads threads(setup.threads);
    const Log log = Resolve(setup);
    std::vector<int> starts = {0};  // of the batches, in items
    for (const Batch& batch : log.batches)
      starts.push_back(starts.back() + static_cast<int>(batch.items.size()));
    const int first = *rc::gen::inRange(0, 1 << 10) % (starts.back() + 1);
    const int second = std::min(first + *rc::gen::inRange(0, 30), starts.back());
    const int src = *rc::gen::inRange(0, 64);
    const int dst = *rc::gen::inRange(0, 64);
    EngineReplay plain(setup, log), toggled(setup, log);
    int done = 0;
    for (std::size_t k = 0; k < log.batches.size(); ++k) {
      Batch batch = log.batches[k];
      plain.Run(batch);
      const bool last = k + 1 == log.batches.size();
      const NodeId nodes = log.batches[0].num_nodes;
      for (const int place : {second, first}) {
        if (place < starts[k] || (place >= starts[k + 1] && !last)) continue;
        const auto at = batch.items.begin() + (place - starts[k]);
        const EventTime time = at == batch.items.end() ? batch.end : at->event.time;
        batch.items.insert(
            at, Item{{src % nodes, dst % nodes, time, EventKind::kToggle}, {}});
        ++done;
      }
      toggled.Run(batch);
      if (done == 1) {
        tally.Add("batches between the two");
        continue;
      }
      RC_ASSERT(toggled.model().Arcs() == plain.model().Arcs());
      AssertWithinBounds(WhatIsSaid(toggled), WhatIsSaid(plain));
      if (done == 2) tally.Add("batches after both");
    }
    RC_ASSERT(done == 2);
  });
}

// Nodes in another order: the result is permuted.
TEST(ReversalProperty, RelabellingPermutes) {
  CheckProperty({500}, [](Tally& tally) {
    const Case setup = *AnyCase();
    const Threads threads(setup.threads);
    const Log log = Resolve(setup);
    std::vector<NodeId> name(setup.num_nodes);
    std::iota(name.begin(), name.end(), 0);
    std::mt19937 random(setup.seed);
    std::shuffle(name.begin(), name.end(), random);
    Log renamed = log;
    for (NodeId node = 0; node < setup.num_nodes; ++node)
      renamed.features[name[node]] = log.features[node];
    for (Batch& batch : renamed.batches) {
      batch.num_nodes = setup.num_nodes;
      for (Item& item : batch.items) {
        item.event.src = name[item.event.src];
        if (item.is_event()) item.event.dst = name[item.event.dst];
      }
    }
    EngineReplay first(setup, log), second(setup, renamed);
    for (std::size_t k = 0; k < log.batches.size(); ++k) {
      first.Run(log.batches[k]);
      second.Run(renamed.batches[k]);
      Said permuted = WhatIsSaid(second);
      for (auto& column : permuted.values) {
        std::vector<double> back(first.num_nodes());
        for (NodeId node = 0; node < first.num_nodes(); ++node)
          back[node] = column[name[node]];
        column = back;
      }
      AssertWithinBounds(WhatIsSaid(first), permuted);
      tally.Add("batches");
    }
  });
}

}  // namespace
}  // namespace coden::property
