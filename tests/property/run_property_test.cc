// Whole runs of random logs, from Parquet to Parquet: cut into files and batches, grown
// row by row, with other names for the nodes, and arranged by an arrival pattern.

#include <algorithm>
#include <random>
#include <set>

#include "coden/base/error.h"
#include "coden/experiment/pattern_log.h"
#include "coden/graph/unobserved.h"
#include "coden/pipeline/schedule_pass.h"
#include "coden/read/event_batch.h"
#include "property/engine_replay.h"
#include "property/run_files.h"

namespace coden::property {
namespace {

// A case with a log of at least one row, and features of at least one node.
struct RunCase {
  Case setup;
  SampleCase sampling;
  Log log;
  Rows rows;
};

RunCase DrawRun(bool windows = true, bool times_alone = false) {
  RunCase run;
  run.setup = *AnyCase({.windows = windows});
  run.sampling = *AnySampleCase(run.setup, times_alone);
  run.log = Resolve(run.setup);
  run.rows = RowsOf(run.log);
  RC_PRE(!run.rows.events.empty());
  if (run.log.features[0].empty())
    run.log.features[0].assign(run.setup.num_columns, 0.5f);
  return run;
}

void WriteInputs(const RunCase& run, RunFiles& files) {
  files.WriteFeatures(run.log.features, InOrder(run.setup.num_nodes));
  files.WriteUpdates(run.rows.updates);
}

TEST(RunProperty, TheScheduleDependsOnNeitherFilesNorBatches) {
  CheckProperty({40, /*share=*/4}, [](Tally& tally) {
    const RunCase run = DrawRun();
    const auto cuts = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 100));
    const int group_rows = *rc::gen::inRange(1, 20);
    const auto schedule = [](RunFiles& files) {
      RunInputs inputs = Must(RunInputs::Open(files.settings));
      return RunSchedulePass(files.settings, inputs, files.Context());
    };
    RunFiles files(run.setup, run.sampling, PlainNames(run.setup.num_nodes));
    WriteInputs(run, files);
    files.WriteLog("a.parquet", run.rows.events);
    const auto whole = schedule(files);
    std::filesystem::remove_all(files.settings.input.edges);
    // Equal times may lie in two files.
    std::set<std::size_t> ends = {run.rows.events.size()};
    for (const int cut : cuts) ends.insert(cut % (run.rows.events.size() + 1));
    std::size_t begin = 0;
    int number = 100;
    for (const std::size_t end : ends) {
      if (end == 0) continue;
      files.WriteLog(std::to_string(number++) + ".parquet",
                     std::span(run.rows.events).subspan(begin, end - begin), group_rows);
      begin = end;
    }
    files.settings.input.batch_rows = *rc::gen::inRange(1, 8);
    const auto parts = schedule(files);
    RC_ASSERT(whole.ok() == parts.ok());
    if (!whole.ok()) {
      RC_LOG() << whole.status().ToString() << "\n" << parts.status().ToString() << "\n";
      tally.Add("logs refused, both ways");
      return;
    }
    RC_ASSERT(parts->schedule == whole->schedule);
    RC_ASSERT(parts->notes == whole->notes);
    RC_ASSERT(parts->nodes.size() == whole->nodes.size());
    tally.Add("files", number - 100);
    tally.Add("snapshots", static_cast<std::int64_t>(whole->schedule.size()));
  });
}

bool SameBits(const RunFiles::Snapshot& left, const RunFiles::Snapshot& right) {
  if (left.size() != right.size()) return false;
  for (std::size_t row = 0; row < left.size(); ++row) {
    if (left[row].first != right[row].first ||
        left[row].second.size() != right[row].second.size() ||
        !std::equal(left[row].second.begin(), left[row].second.end(),
                    right[row].second.begin(), [](float a, float b) {
                      return std::bit_cast<std::uint32_t>(a) ==
                             std::bit_cast<std::uint32_t>(b);
                    })) {
      return false;
    }
  }
  return true;
}

// Within the errors that both of them claim for a snapshot.
void AssertClose(const RunFiles::Snapshot& left, const RunFiles::Snapshot& right,
                 double allowed) {
  RC_ASSERT(left.size() == right.size());
  std::map<std::string, std::vector<float>> others(right.begin(), right.end());
  std::vector<double> distance(left.empty() ? 0 : left[0].second.size(), 0.0);
  double size = 0.0;
  for (const auto& [name, vector] : left) {
    RC_ASSERT(others.contains(name));
    for (std::size_t column = 0; column < distance.size(); ++column) {
      distance[column] += std::abs(double(vector[column]) - others[name][column]);
      size += std::abs(vector[column]);
    }
  }
  for (const double sum : distance) RC_ASSERT(sum <= allowed + 1e-14 * size);
}

double AllowedAt(const SchedulePoint& left, const SchedulePoint& right) {
  return (left.error_bound.value() + right.error_bound.value()) *
         static_cast<double>(left.num_nodes);
}

Schedule PredictionsOf(Schedule schedule) {
  std::erase_if(schedule, [](const auto& point) { return !point.at_prediction; });
  for (SchedulePoint& point : schedule) {
    point.snapshot = 0;
    point.sigma = 0.0;
    point.error_bound.reset();
    point.base.reset();
  }
  return schedule;
}

// A log that grows at a random row, equal times or not.
TEST(RunProperty, AppendIsARunFromScratch) {
  CheckProperty({40, /*share=*/10}, [](Tally& tally) {
    RunCase run = DrawRun(/*windows=*/true, /*times_alone=*/true);
    const std::size_t half = run.rows.events.size() / 2;
    const auto cut = half + static_cast<std::size_t>(*Between(0, 1000)) %
                                (run.rows.events.size() - half);
    RC_PRE(cut > 0u);
    const std::span<const EdgeEvent> all(run.rows.events);
    RunFiles files(run.setup, run.sampling, PlainNames(run.setup.num_nodes));
    WriteInputs(run, files);
    files.WriteLog("a.parquet", all.first(cut));
    const arrow::Status begun = files.Embed("grown");
    if (!begun.ok()) {
      RC_LOG() << begun.ToString() << "\n";
      RC_ASSERT(FaultOf(begun).has_value());
      tally.Add("first logs refused");
      return;
    }
    const Schedule first = files.ScheduleOf("grown");
    RC_ASSERT(!first.empty());
    std::map<int, RunFiles::Snapshot> kept;
    for (const SchedulePoint& point : first)
      kept[point.snapshot] = files.SnapshotOf("grown", point.snapshot);
    files.WriteLog("b.parquet", all.subspan(cut), /*row_group_rows=*/5);
    const arrow::Status grown = files.Embed("grown");
    const bool late = all[cut].time <= first.back().time;
    if (late) {
      RC_LOG() << grown.ToString() << "\n";
      RC_ASSERT(FaultOf(grown) == Fault::kInput);
      // Intervals that wait are finished, so nothing can come late for them.
      RC_ASSERT(run.sampling.partition.unfinished != UnfinishedInterval::kWait);
      RC_ASSERT(files.ScheduleOf("grown") == first);
      tally.Add("rows that came late, refused");
      return;
    }
    Must(grown);
    Must(files.Embed("whole"));
    const Schedule left = files.ScheduleOf("grown"), right = files.ScheduleOf("whole");
    for (const auto& [number, snapshot] : kept)
      RC_ASSERT(SameBits(files.SnapshotOf("grown", number), snapshot));
    tally.Add(all[cut - 1].time == all[cut].time ? "cuts inside equal times"
                                                 : "cuts between times");
    if (run.sampling.sample.bound == ShiftBound::kStrict) {
      // The bound is made anew, as good but not to the last bit.
      RC_ASSERT(PredictionsOf(left) == PredictionsOf(right));
      for (const SchedulePoint& point : left) {
        const auto twin = std::find_if(right.begin(), right.end(), [&](const auto& p) {
          return p.prediction == point.prediction && p.at_prediction;
        });
        if (!point.at_prediction) continue;
        AssertClose(files.SnapshotOf("grown", point.snapshot),
                    files.SnapshotOf("whole", twin->snapshot), AllowedAt(point, *twin));
      }
      tally.Add("strict schedules");
      return;
    }
    RC_ASSERT(left == right);
    for (const SchedulePoint& point : left) {
      const bool same = SameBits(files.SnapshotOf("grown", point.snapshot),
                                 files.SnapshotOf("whole", point.snapshot));
      RC_ASSERT(same);
      tally.Add(point.snapshot < static_cast<int>(first.size()) ? "snapshots kept"
                                                                : "snapshots added");
    }
  });
}

// Other ids, the same rows: the same numbering, so the same bits under other names.
TEST(RunProperty, RenamedNodesHaveTheSameNumbers) {
  CheckProperty({30, /*share=*/10}, [](Tally& tally) {
    RunCase run = DrawRun();
    const bool text = *rc::gen::arbitrary<bool>();
    std::mt19937_64 random(run.setup.seed);
    std::set<std::string> taken;
    Names names;
    while (static_cast<int>(names.size()) < run.setup.num_nodes) {
      std::string name = std::to_string(static_cast<std::int64_t>(random()));
      if (names.empty()) name = "9223372036854775807";
      if (names.size() == 1) name = "-9223372036854775808";
      if (text) name = "node \"" + name + "\"";
      if (taken.insert(name).second) names.push_back(name);
    }
    RunFiles plain(run.setup, run.sampling, PlainNames(run.setup.num_nodes));
    WriteInputs(run, plain);
    plain.WriteLog("a.parquet", run.rows.events);
    const arrow::Status status = plain.Embed("run");
    const Schedule schedule = status.ok() ? plain.ScheduleOf("run") : Schedule{};
    std::vector<RunFiles::Snapshot> snapshots;
    for (const SchedulePoint& point : schedule) {
      auto& rows = snapshots.emplace_back(plain.SnapshotOf("run", point.snapshot));
      for (auto& row : rows) row.first = names[std::stoll(row.first) / 7];
    }
    // The same folder again.
    RunFiles renamed(run.setup, run.sampling, names, text);
    WriteInputs(run, renamed);
    renamed.WriteLog("a.parquet", run.rows.events);
    const arrow::Status again = renamed.Embed("run");
    RC_ASSERT(again.ok() == status.ok());
    if (!again.ok()) return tally.Add("logs refused, both ways");
    RC_ASSERT(renamed.ScheduleOf("run") == schedule);
    for (const SchedulePoint& point : schedule) {
      RC_ASSERT(
          SameBits(renamed.SnapshotOf("run", point.snapshot), snapshots[point.snapshot]));
      tally.Add("snapshots");
    }
    tally.Add(text ? "cases with ids that are text" : "cases with wild numbers");
  });
}

// Rows of the features in another order: nodes are numbered in another way.
TEST(RunProperty, TheOrderOfFeatureRowsPermutesWithinTheBound) {
  CheckProperty({30, /*share=*/10}, [](Tally& tally) {
    RunCase run = DrawRun();
    std::vector<NodeId> order = InOrder(run.setup.num_nodes);
    RunFiles files(run.setup, run.sampling, PlainNames(run.setup.num_nodes));
    // Snapshots at the same rows: sums of the mass depend on the order of nodes.
    files.settings.sample.lambda = 1e100;
    WriteInputs(run, files);
    files.WriteLog("a.parquet", run.rows.events);
    const arrow::Status status = files.Embed("plain");
    std::mt19937 random(run.setup.seed);
    std::shuffle(order.begin(), order.end(), random);
    files.WriteFeatures(run.log.features, order);
    const arrow::Status again = files.Embed("permuted");
    RC_ASSERT(again.ok() == status.ok());
    if (!again.ok()) return tally.Add("logs refused, both ways");
    const Schedule left = files.ScheduleOf("plain"), right = files.ScheduleOf("permuted");
    RC_ASSERT(PredictionsOf(left) == PredictionsOf(right));
    RC_ASSERT(left.size() == right.size());
    for (std::size_t i = 0; i < left.size(); ++i) {
      AssertClose(files.SnapshotOf("plain", left[i].snapshot),
                  files.SnapshotOf("permuted", right[i].snapshot),
                  AllowedAt(left[i], right[i]));
      tally.Add("snapshots");
    }
  });
}

// The arranged log itself: after step k of `declined` the graph is that of K - k steps.
TEST(RunProperty, ADeclinedLogUndoesTheInclinedOne) {
  CheckProperty({40, /*share=*/4}, [](Tally& tally) {
    RunCase run = DrawRun(/*windows=*/false);
    RunFiles files(run.setup, run.sampling, PlainNames(run.setup.num_nodes));
    WriteInputs(run, files);
    files.WriteLog("a.parquet", run.rows.events);
    const auto graphs =
        [&](const Settings& settings) -> arrow::Result<std::vector<test::ArcSet>> {
      ARROW_ASSIGN_OR_RAISE(RunInputs inputs, RunInputs::Open(settings));
      ARROW_ASSIGN_OR_RAISE(const auto pass,
                            RunSchedulePass(settings, inputs, files.Context()));
      EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes);
      ARROW_ASSIGN_OR_RAISE(const auto source, inputs.log.Scan(1000));
      ARROW_RETURN_NOT_OK(reader.Bind(source->schema()).status());
      std::vector<EdgeEvent> events;
      for (const auto& batch : *source) {
        ARROW_ASSIGN_OR_RAISE(const auto rows, batch);
        ARROW_RETURN_NOT_OK(reader.Push(rows, [&](const BatchPtr& out) {
          const EventView view(*out);
          for (std::int64_t row = 0; row < view.size(); ++row)
            events.push_back(view[row]);
          return arrow::Status::OK();
        }));
      }
      ModelGraph model(settings.graph);
      std::vector<test::ArcSet> arcs;
      std::size_t next = 0;
      if (pass.schedule.empty() || pass.schedule[0].prediction != 0) arcs.emplace_back();
      for (const SchedulePoint& point : pass.schedule) {
        while (next < static_cast<std::size_t>(point.events)) {
          if (!model.Apply(events[next++])) return arrow::Status::Invalid("no such edge");
        }
        if (!point.at_prediction && point.prediction != 0) continue;
        // Under the user's names, which both logs share.
        std::vector<NodeId> order = InOrder(inputs.nodes->size());
        ARROW_ASSIGN_OR_RAISE(const auto ids, inputs.nodes->Take(order));
        const auto& names = static_cast<const arrow::Int64Array&>(*ids);
        auto& named = arcs.emplace_back();
        for (const auto& [src, dst] : model.Arcs())
          named.insert(
              {static_cast<int>(names.Value(src)), static_cast<int>(names.Value(dst))});
      }
      return arcs;
    };
    const auto inclined = graphs(files.settings);
    const auto declined_settings =
        WritePatternLog(files.settings, ArrivalPattern::kDeclined,
                        files.PathOf("declined.parquet"), files.Context());
    if (!declined_settings.ok()) {
      RC_LOG() << declined_settings.status().ToString() << "\n";
      RC_ASSERT(FaultOf(declined_settings.status()).has_value());
      return tally.Add("logs refused");
    }
    RC_ASSERT(inclined.ok());
    const auto declined = graphs(*declined_settings);
    if (!declined.ok()) {
      // No row is left after the initial graph where no interval changed anything.
      RC_LOG() << declined.status().ToString() << "\n";
      for (const test::ArcSet& arcs : *inclined) RC_ASSERT(arcs == inclined->front());
      RC_ASSERT(FaultOf(declined.status()).has_value());
      return tally.Add("logs without a change after their initial graph");
    }
    const std::size_t steps = inclined->size() - 1;
    RC_ASSERT(declined->size() == inclined->size());
    for (std::size_t k = 0; k <= steps; ++k)
      RC_ASSERT((*declined)[k] == (*inclined)[steps - k]);
    tally.Add("steps", static_cast<std::int64_t>(steps));
  });
}

}  // namespace
}  // namespace coden::property
