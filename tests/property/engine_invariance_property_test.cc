// What the numbers do not depend on: threads, the columns beside them, where an engine
// was stopped and put back (to the last bit); the order of rows inside a batch, whether
// an edge is one row or two (within the bounds).

#include <algorithm>
#include <random>

#include "property/engine_replay.h"

namespace coden::property {
namespace {

// Run a log with a number of threads; what is said after every batch.
std::vector<Said> RunWith(int num_threads, const Case& setup, const Log& log, int first,
                          int num_columns) {
  const Threads threads(num_threads);
  EngineReplay replay(setup, log, setup.embed, first, num_columns);
  std::vector<Said> said;
  for (const Batch& batch : log.batches) {
    replay.Run(batch);
    said.push_back(WhatIsSaid(replay));
  }
  return said;
}

TEST(EngineInvarianceProperty, ThreadsAndSlicesChangeNoBit) {
  CheckProperty({300}, [](Tally& tally) {
    const Case setup = *AnyCase();
    const int cut = 1 + *rc::gen::inRange(0, 20) % setup.num_columns;
    const int more_threads = *rc::gen::inRange(2, 17);
    const Log log = Resolve(setup);
    const auto whole = RunWith(1, setup, log, 0, setup.num_columns);
    const auto parallel = RunWith(more_threads, setup, log, 0, setup.num_columns);
    const auto left = RunWith(setup.threads, setup, log, 0, cut);
    const auto right = cut == setup.num_columns
                           ? std::vector<Said>(whole.size())
                           : RunWith(1, setup, log, cut, setup.num_columns - cut);
    for (std::size_t k = 0; k < whole.size(); ++k) {
      AssertSameBits(parallel[k], whole[k]);
      Said joined = left[k];
      joined.values.insert(joined.values.end(), right[k].values.begin(),
                           right[k].values.end());
      joined.bounds.insert(joined.bounds.end(), right[k].bounds.begin(),
                           right[k].bounds.end());
      AssertSameBits(joined, whole[k]);
      tally.Add("batches");
    }
    if (cut < setup.num_columns) tally.Add("cases in two slices");
    if (setup.num_columns > 16) tally.Add("cases with two blocks");
  });
}

// An engine with the same numbers as another one, put together from what that gives away.
void PutBack(const EngineReplay& from, EngineReplay& to) {
  const EmbeddingEngine& engine = from.engine();
  const auto connected = engine.ConnectedNodes();
  to.engine().Restore(from.graph(), connected, engine.Memory());
  std::vector<double> numbers(connected.size());
  for (int column = 0; column < engine.num_columns(); ++column) {
    engine.CopyNumbers(column, 0, numbers);
    // In two parts, as files come in batches of rows.
    const std::size_t half = numbers.size() / 2;
    const std::span<const double> all(numbers);
    to.engine().RestoreNumbers(column, 0, all.first(half));
    to.engine().RestoreNumbers(column, static_cast<std::int64_t>(half),
                               all.subspan(half));
  }
}

TEST(EngineInvarianceProperty, AnEnginePutBackGoesOnWithTheSameBits) {
  CheckProperty({500}, [](Tally& tally) {
    const Case setup = *AnyCase();
    const Log log = Resolve(setup);
    const auto stop =
        static_cast<std::size_t>(*rc::gen::inRange(0, 64)) % log.batches.size();
    const bool knows_all_nodes = *rc::gen::arbitrary<bool>();
    const Threads threads(setup.threads);
    EngineReplay whole(setup, log);
    EngineReplay rest(setup, log);
    for (std::size_t k = 0; k < log.batches.size(); ++k) {
      whole.Run(log.batches[k]);
      if (k < stop) {
        rest.Apply(log.batches[k]);
        continue;
      }
      if (k == stop) {
        // Graph and features are those of then; nodes of later may be known already.
        rest.Apply(log.batches[k]);
        rest.SkipUpdate();
        if (knows_all_nodes) rest.engine().Grow(setup.num_nodes);
        PutBack(whole, rest);
      } else {
        rest.Run(log.batches[k]);
      }
      AssertSameBits(WhatIsSaid(rest), WhatIsSaid(whole));
      RC_ASSERT(rest.engine().Memory().in_double == whole.engine().Memory().in_double);
      RC_ASSERT(rest.engine().Memory().pushed == whole.engine().Memory().pushed);
      tally.Add(k == stop ? "engines put back" : "batches after it");
    }
  });
}

TEST(EngineInvarianceProperty, TheOrderInsideABatchDoesNotMatter) {
  CheckProperty({500}, [](Tally& tally) {
    Case setup = *AnyCase({.windows = false});
    if (setup.graph.events == EventMode::kSigned) setup.graph.events = EventMode::kToggle;
    const Threads threads(setup.threads);
    const Log log = Resolve(setup);
    std::mt19937 random(setup.seed);
    EngineReplay first(setup, log), second(setup, log);
    for (const Batch& batch : log.batches) {
      first.Run(batch);
      // Events at random; of a node's features the last ones still come last.
      Batch shuffled = batch;
      std::vector<Item> events, features;
      for (const Item& item : batch.items)
        (item.is_event() ? events : features).push_back(item);
      std::shuffle(events.begin(), events.end(), random);
      for (Item& item : events) item.event.time = batch.end;
      features.insert(features.end(), events.begin(), events.end());
      shuffled.items = features;
      second.Run(shuffled);
      RC_ASSERT(second.model().Arcs() == first.model().Arcs());
      AssertWithinBounds(WhatIsSaid(second), WhatIsSaid(first));
      tally.Add("batches");
    }
  });
}

TEST(EngineInvarianceProperty, AnUndirectedEdgeIsTwoRows) {
  CheckProperty({500}, [](Tally& tally) {
    Case setup = *AnyCase();
    setup.graph.directed = false;
    setup.embed.propagation = Propagation::kMass;
    Case both = setup;
    both.graph.directed = true;
    const Threads threads(setup.threads);
    const Log log = Resolve(setup);
    EngineReplay undirected(setup, log), directed(both, log);
    for (const Batch& batch : log.batches) {
      undirected.Run(batch);
      Batch doubled = batch;
      doubled.items.clear();
      for (const Item& item : batch.items) {
        doubled.items.push_back(item);
        if (!item.is_event() || item.event.src == item.event.dst) continue;
        doubled.items.push_back(item);
        std::swap(doubled.items.back().event.src, doubled.items.back().event.dst);
      }
      directed.Run(doubled);
      RC_ASSERT(directed.model().Arcs() == undirected.model().Arcs());
      AssertWithinBounds(WhatIsSaid(directed), WhatIsSaid(undirected));
      tally.Add("batches");
    }
  });
}

}  // namespace
}  // namespace coden::property
