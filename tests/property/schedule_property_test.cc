// The schedule is that of the definition, and does not depend on how the log is cut into
// record batches; the strict bound is above the true shift.

#include <algorithm>
#include <cmath>
#include <optional>

#include <arrow/builder.h>
#include <arrow/table.h>

#include "coden/base/runner.h"
#include "coden/partition/partitioner.h"
#include "coden/read/event_batch.h"
#include "coden/sample/schedule_sampler.h"
#include "property/engine_replay.h"
#include "property/naive_sampler.h"
#include "property/sample_case.h"
#include "support/recut.h"

namespace coden::property {
namespace {

float LargestOf(const std::vector<float>& vector) {
  float largest = 0.0f;
  for (const float value : vector) largest = std::max(largest, std::abs(value));
  return largest;
}

// Let `sampler` follow a log whose batches end at prediction times, the first of them at
// the end of the initial graph.
template <typename Event, typename Features, typename Start, typename Predict>
void Follow(const Log& log, const Event& event, const Features& features,
            const Start& start, const Predict& predict) {
  for (std::size_t k = 0; k < log.batches.size(); ++k) {
    const Batch& batch = log.batches[k];
    for (const Item& item : batch.items) {
      if (item.is_event()) {
        event(item.event);
      } else {
        features(item.event.src, LargestOf(item.vector));
      }
    }
    k == 0 ? start(batch.end) : predict(batch.end);
  }
}

TEST(ScheduleProperty, IsThatOfTheDefinition) {
  CheckProperty({500}, [](Tally& tally) {
    const Case setup = *AnyCase();
    SampleOptions sample = (*AnySampleCase(setup)).sample;
    if (sample.bound == ShiftBound::kStrict) sample.bound = ShiftBound::kRelative;
    const Log log = Resolve(setup);
    std::vector<float> largest;
    for (const auto& vector : log.features) largest.push_back(LargestOf(vector));
    LazySampler sampler(sample, setup.embed, setup.graph,
                        [&](NodeId node) { return largest[node]; });
    NaiveSampler naive(sample, setup.embed, setup.graph, largest);
    Schedule schedule;
    Follow(
        log,
        [&](const EdgeEvent& event) {
          Must(sampler.OnEvent(event, &schedule));
          naive.Event(event);
        },
        [&](NodeId node, float value) {
          sampler.OnFeatureUpdate(node, value, &schedule);
          naive.Features(node, value);
        },
        [&](EventTime time) {
          sampler.OnStart(time, &schedule);
          naive.Start(time);
        },
        [&](EventTime time) {
          sampler.OnPredict(time, &schedule);
          naive.Predict(time);
        });
    if (naive.close()) {
      tally.Add("cases too close to lambda to compare");
      return;
    }
    Schedule expected = naive.schedule();
    RC_ASSERT(schedule.size() == expected.size());
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      RC_LOG() << "point " << i << "\n";
      RC_ASSERT(std::abs(schedule[i].sigma - expected[i].sigma) <=
                1e-6 * (1.0 + expected[i].sigma));
      expected[i].sigma = schedule[i].sigma;
      RC_ASSERT(schedule[i] == expected[i]);
      tally.Add(schedule[i].at_prediction ? "points at predictions" : "points between");
    }
  });
}

TEST(ScheduleProperty, AStrictBoundIsAboveTheTrueShift) {
  CheckProperty({500}, [](Tally& tally) {
    Case setup = *AnyCase();
    setup.embed.propagation = Propagation::kMass;
    SampleOptions sample;
    sample.bound = ShiftBound::kStrict;
    sample.lambda = 1e300;  // points at predictions alone
    const Log log = Resolve(setup);
    LazySampler sampler(sample, setup.embed, setup.graph,
                        [&](NodeId node) { return LargestOf(log.features[node]); });
    for (NodeId node = 0; node < setup.num_nodes; ++node) sampler.AddNode(node);
    ModelGraph model(setup.graph);
    std::vector<std::vector<float>> x = log.features;
    for (auto& vector : x) vector.resize(setup.num_columns, 0.0f);
    std::vector<Column> last;
    Schedule schedule;
    for (std::size_t k = 0; k < log.batches.size(); ++k) {
      const Batch& batch = log.batches[k];
      for (const Item& item : batch.items) {
        if (item.is_event()) {
          Must(sampler.OnEvent(item.event, &schedule));
          model.Apply(item.event);
        } else {
          sampler.OnFeatureUpdate(item.event.src, LargestOf(item.vector), &schedule);
          x[item.event.src] = item.vector;
        }
      }
      k == 0 ? sampler.OnStart(batch.end, &schedule)
             : sampler.OnPredict(batch.end, &schedule);
      if (k > 0) model.ExpireUntil(batch.end);
      const ExactSolver solver(model.Arcs(), setup.num_nodes, setup.embed.alpha, 0.0);
      std::vector<Column> now;
      for (int column = 0; column < setup.num_columns; ++column) {
        Column values(setup.num_nodes);
        for (NodeId node = 0; node < setup.num_nodes; ++node)
          values[node] = x[node][column];
        now.push_back(solver.Embed(values));
        // The graph before the start may have been empty, and is then no point.
        if (k == 0 || schedule.size() < 2) continue;
        Real shift = 0;
        for (NodeId node = 0; node < setup.num_nodes; ++node)
          shift += std::abs(now[column][node] - last[column][node]);
        // Without any mass left a bound that is relative to it says nothing.
        if (sampler.Memory().mass <= 0.0) continue;
        const Real claimed = Real(schedule.back().sigma) * sampler.Memory().mass;
        RC_ASSERT(claimed >= 0);
        RC_LOG() << "batch " << k << ": shift " << shift << " of " << claimed << "\n";
        RC_ASSERT(shift <= claimed * (1 + 1e-6L) + 1e-12L * sampler.Memory().mass);
        if (column == 0) tally.Add(shift > 0 ? "shifts" : "batches without a shift");
      }
      last = now;
    }
  });
}

// Everything between the reader and the schedule, with `cut` batches in between.
arrow::Result<Schedule> ScheduleOf(const Case& setup, const Log& log,
                                   const SampleCase& sampling,
                                   std::optional<std::uint32_t> cut) {
  const auto nodes = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  arrow::Int64Builder ids;
  for (NodeId node = 0; node < setup.num_nodes; ++node) Must(ids.Append(node));
  std::vector<NodeId> ignored;
  Must(nodes->Encode(*ids.Finish().ValueOrDie(), &ignored));
  InputOptions input;
  input.random_features = setup.num_columns;
  input.random_seed = setup.seed;
  const NodeFeatures features = Must(NodeFeatures::Open(input, *nodes));
  EventBatchBuilder rows;
  EventTime end = kNoTime;
  for (const Batch& batch : log.batches) {
    for (const Item& item : batch.items) {
      if (!item.is_event()) continue;
      rows.Append(item.event);
      end = item.event.time;
    }
  }
  const std::int64_t num_rows = rows.num_rows();
  ARROW_ASSIGN_OR_RAISE(auto clock,
                        PredictionClock::Make(sampling.partition, num_rows, end));
  Partitioner partitioner(std::move(clock));
  const auto sampler = Must(
      ScheduleSampler::Make(sampling.sample, setup.embed, setup.graph, features, *nodes));
  Recut before(cut.value_or(0)), after(cut.value_or(0) + 1);
  const auto source =
      arrow::RecordBatchReader::Make({rows.Finish()}, EventSchema()).ValueOrDie();
  std::vector<Operator*> stages = {&partitioner, sampler.get()};
  if (cut) stages = {&before, &partitioner, &after, sampler.get()};
  arrow::RecordBatchVector points;
  SilentProgress silent;
  const auto collect = [&](BatchPtr batch) {
    points.push_back(std::move(batch));
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(Run(*source, stages, collect, {&silent}));
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        arrow::Table::FromRecordBatches(ScheduleSchema(), points));
  return ScheduleFromTable(*table);
}

TEST(ScheduleProperty, DoesNotDependOnBatchCuts) {
  CheckProperty({500}, [](Tally& tally) {
    const Case setup = *AnyCase();
    const SampleCase sampling = *AnySampleCase(setup);
    const auto cut = *rc::gen::arbitrary<std::uint32_t>();
    const Log log = Resolve(setup);
    std::int64_t num_events = 0;
    for (const Batch& batch : log.batches) {
      for (const Item& item : batch.items) num_events += item.is_event();
    }
    if (num_events == 0) return tally.Add("logs without a row");
    const auto whole = ScheduleOf(setup, log, sampling, std::nullopt);
    const auto parts = ScheduleOf(setup, log, sampling, cut);
    RC_ASSERT(whole.ok() == parts.ok());
    if (!whole.ok()) {
      RC_ASSERT(whole.status().message() == parts.status().message());
      return tally.Add("logs refused, both ways");
    }
    RC_ASSERT(*parts == *whole);
    for (const SchedulePoint& point : *whole)
      tally.Add(point.at_prediction ? "points at predictions" : "points between");
  });
}

}  // namespace
}  // namespace coden::property
