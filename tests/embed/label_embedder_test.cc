// Label columns against their definition: exact dense PPR of the labels of all folds but
// one, on a graph and with labels that are worked out anew from the log at every
// snapshot.

#include "coden/embed/label_embedder.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <bit>

#include "embed/label_task.h"
#include "support/dense_ppr.h"
#include "support/status.h"

namespace coden {
namespace {

using test::AllNodes;
using test::ArcSet;
using test::ExactEmbedding;
using test::kNumClasses;
using test::kNumNodes;
using test::LabelOptions;
using test::LabelTask;
using test::Matrix;
using test::PowerOf;
using Bits = std::vector<std::uint32_t>;

// Take all snapshots; `at(point, rows)` sees the rows of all nodes at every one of them.
template <typename At>
arrow::Status Replay(const LabelTask& task, const Schedule& schedule,
                     LabelEmbedderOptions options, const At& at) {
  LabelEmbedder* embedder = nullptr;
  options.after_snapshot = [&](const SchedulePoint& point) {
    std::vector<float> rows(static_cast<std::size_t>(kNumNodes) * embedder->width());
    embedder->CopyRows(AllNodes(), rows.data());
    return at(point, rows);
  };
  ARROW_ASSIGN_OR_RAISE(const auto made,
                        LabelEmbedder::Make(options, schedule, task.seeds, task.Times(),
                                            task.Graphs(options)));
  embedder = made.get();
  return made->Run();
}

// The rows of `nodes` at all snapshots.
Bits BitsOf(const LabelTask& task, const LabelEmbedderOptions& options,
            const std::vector<NodeId>& nodes) {
  Bits bits;
  CODEN_EXPECT_OK(Replay(task, task.schedule, options,
                         [&](const SchedulePoint&, const std::vector<float>& rows) {
                           const std::size_t width = rows.size() / kNumNodes;
                           for (const NodeId node : nodes) {
                             for (std::size_t i = 0; i < width; ++i)
                               bits.push_back(
                                   std::bit_cast<std::uint32_t>(rows[node * width + i]));
                           }
                           return arrow::Status::OK();
                         }));
  EXPECT_FALSE(bits.empty());
  return bits;
}

// Every number against the direct definition. Returns how many were far from 0.
int CheckAgainstDefinition(const LabelTask& task, const Schedule& schedule,
                           const LabelEmbedderOptions& options) {
  const auto folds = task.Folds();
  std::size_t num_snapshots = 0;
  int num_large = 0;
  CODEN_EXPECT_OK(Replay(
      task, schedule, options,
      [&](const SchedulePoint& point, const std::vector<float>& rows) {
        SCOPED_TRACE(::testing::Message() << "snapshot " << point.snapshot);
        const float* row = rows.data();
        const std::size_t width = rows.size() / kNumNodes;
        EXPECT_EQ(width, options.windows.size() * options.alphas.size() * kNumClasses);
        EXPECT_EQ(point, schedule.at(num_snapshots++));
        for (const EventTime window : options.windows) {
          GraphOptions graph = options.graph;
          graph.window = window;
          const ArcSet arcs = task.ArcsAt(point, graph);
          for (const double alpha : options.alphas) {
            Matrix mean = test::Zeros(kNumNodes, kNumClasses);
            std::vector<Matrix> without;
            for (int fold = 0; fold < options.num_folds; ++fold) {
              without.push_back(ExactEmbedding(arcs, task.LabelsWithout(fold, point.time),
                                               alpha,
                                               PowerOf(options.embed.propagation)));
              for (NodeId node = 0; node < kNumNodes; ++node) {
                for (int label = 0; label < kNumClasses; ++label)
                  mean[node][label] += without[fold][node][label] / options.num_folds;
              }
            }
            // Of a single fold, which is no node's own, all of it.
            if (options.num_folds == 1) {
              mean = ExactEmbedding(arcs, task.LabelsWithout(1, point.time), alpha,
                                    PowerOf(options.embed.propagation));
            }
            for (NodeId node = 0; node < kNumNodes; ++node) {
              const auto fold = folds.find(node);
              const Matrix& exact = fold == folds.end() ? mean : without[fold->second];
              for (int label = 0; label < kNumClasses; ++label) {
                EXPECT_NEAR(row[node * width + label], exact[node][label], 3e-7)
                    << "node " << node << " class " << label << " alpha " << alpha
                    << " window " << window;
                num_large += exact[node][label] > 0.01;
              }
            }
            row += kNumClasses;
          }
        }
        return arrow::Status::OK();
      }));
  EXPECT_EQ(num_snapshots, schedule.size());
  return num_large;
}

int CheckAgainstDefinition(const LabelTask& task, const LabelEmbedderOptions& options) {
  return CheckAgainstDefinition(task, task.schedule, options);
}

TEST(LabelEmbedder, RowsAreWhatTheOtherFoldsSend) {
  unsigned seed = 0;
  for (const int num_folds : {2, 5, 1}) {
    for (const bool directed : {false, true}) {
      for (const Propagation propagation :
           {Propagation::kMass, Propagation::kAverage, Propagation::kSymmetric}) {
        SCOPED_TRACE(::testing::Message() << num_folds << " folds, directed " << directed
                                          << " " << static_cast<int>(propagation));
        const LabelTask task(++seed, num_folds);
        LabelEmbedderOptions options = LabelOptions(num_folds);
        options.graph.directed = directed;
        options.embed.propagation = propagation;
        EXPECT_GT(CheckAgainstDefinition(task, options), num_folds > 1 ? 500 : 100);
      }
    }
  }
}

TEST(LabelEmbedder, AWindowOf0KeepsEdgesThatTheRunLetsExpire) {
  const LabelTask task(21, 2);
  LabelEmbedderOptions options = LabelOptions(2);
  options.graph.window = 20;
  EXPECT_GT(CheckAgainstDefinition(task, options), 500);
}

TEST(LabelEmbedder, SnapshotsMayBeLeftOut) {
  const LabelTask task(22, 2);
  Schedule predictions = task.schedule;
  std::erase_if(predictions, [](const auto& point) { return !point.at_prediction; });
  EXPECT_GT(CheckAgainstDefinition(task, predictions, LabelOptions(2)), 300);
}

TEST(LabelEmbedder, LabelsOfTheOwnFoldChangeNoBit) {
  for (const int num_folds : {2, 5}) {
    for (const double epsilon : {1e-9, 1e-5, 0.5}) {
      SCOPED_TRACE(::testing::Message() << num_folds << " folds, " << epsilon);
      LabelEmbedderOptions options = LabelOptions(num_folds);
      options.embed.epsilon = epsilon;
      const LabelTask task(31, num_folds);
      const auto folds = task.Folds();
      for (int fold = 0; fold < num_folds; ++fold) {
        std::vector<NodeId> in_fold, others;
        for (NodeId node = 0; node < kNumNodes; ++node) {
          const auto found = folds.find(node);
          (found != folds.end() && found->second == fold ? in_fold : others)
              .push_back(node);
        }
        ASSERT_FALSE(in_fold.empty());
        LabelTask flipped = task;
        for (LabelSeed& seed : flipped.seeds)
          if (seed.fold == fold) seed.label = (seed.label + 1) % kNumClasses;
        EXPECT_EQ(BitsOf(flipped, options, in_fold), BitsOf(task, options, in_fold));
        EXPECT_NE(BitsOf(flipped, options, others), BitsOf(task, options, others));
        LabelTask one = task;
        for (LabelSeed& seed : one.seeds)
          if (seed.node == in_fold[0]) seed.label = (seed.label + 2) % kNumClasses;
        EXPECT_EQ(BitsOf(one, options, in_fold), BitsOf(task, options, in_fold));
      }
    }
  }
}

TEST(LabelEmbedder, ThreadsChangeNoBit) {
  const LabelTask task(41, 5);
  const LabelEmbedderOptions options = LabelOptions(5);
  const Bits expected = BitsOf(task, options, AllNodes());
  for (const int threads : {1, 2, 8}) {
    SCOPED_TRACE(threads);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(threads);
    arena.execute([&] { EXPECT_EQ(BitsOf(task, options, AllNodes()), expected); });
  }
}

TEST(LabelEmbedder, SeedsMayComeInAnyOrderOfTheirTimes) {
  LabelTask task(51, 2);
  const Bits expected = BitsOf(task, LabelOptions(2), AllNodes());
  std::reverse(task.seeds.begin(), task.seeds.end());
  EXPECT_EQ(BitsOf(task, LabelOptions(2), AllNodes()), expected);
}

TEST(LabelEmbedder, NoLabelsAreZeros) {
  LabelTask task(61, 2);
  task.seeds.clear();
  for (const std::uint32_t bits : BitsOf(task, LabelOptions(2), AllNodes()))
    EXPECT_EQ(std::bit_cast<float>(bits), 0.0f);
}

TEST(LabelEmbedder, ManyRowsAreCopiedInPieces) {
  const LabelTask task(71, 2);
  const auto embedder = LabelEmbedder::Make(LabelOptions(2), task.schedule, task.seeds,
                                            task.Times(), task.Graphs(LabelOptions(2)))
                            .ValueOrDie();
  CODEN_EXPECT_OK(embedder->Run());
  std::vector<NodeId> nodes;
  for (int i = 0; i < 40'000; ++i) nodes.push_back(i % kNumNodes);
  const int width = embedder->width();
  std::vector<float> all(nodes.size() * width);
  embedder->CopyRows(nodes, all.data());
  std::vector<float> once(static_cast<std::size_t>(kNumNodes) * width);
  embedder->CopyRows(AllNodes(), once.data());
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i], once[i % once.size()]) << i;
  embedder->CopyRows({}, nullptr);
}

TEST(LabelEmbedder, StopsWhenItIsTold) {
  const LabelTask task(81, 2);
  arrow::StopSource source;
  LabelEmbedderOptions options = LabelOptions(2);
  options.stop = source.token();
  int num_snapshots = 0;
  const arrow::Status status = Replay(
      task, task.schedule, options, [&](const SchedulePoint&, const std::vector<float>&) {
        if (++num_snapshots == 3) source.RequestStop();
        return arrow::Status::OK();
      });
  EXPECT_TRUE(status.IsCancelled()) << status.ToString();
  EXPECT_EQ(num_snapshots, 3);
}

TEST(LabelEmbedder, ASeedWithoutAClassEndsTheLabelBefore) {
  LabelTask task(92, 2);
  for (std::size_t i = 0; i < task.seeds.size(); i += 4) task.seeds[i].label = -1;
  EXPECT_GT(CheckAgainstDefinition(task, LabelOptions(2)), 0);
}

TEST(LabelEmbedder, RefusesWhatItCannotKeepApart) {
  const LabelTask task(91, 2);
  const auto expect = [&](const LabelEmbedderOptions& options,
                          const std::vector<LabelSeed>& seeds,
                          const std::string& message) {
    const auto made = LabelEmbedder::Make(options, task.schedule, seeds, task.Times(),
                                          task.Graphs(LabelOptions(2)));
    EXPECT_EQ(made.status().message(), message);
  };
  expect(LabelOptions(0), {}, "label columns need at least 1 fold: 0");
  LabelEmbedderOptions none = LabelOptions(2);
  none.alphas.clear();
  expect(none, {}, "label columns need a class, an alpha and a window at least");
  expect(LabelOptions(2), {{3, 0, 1, 5}, {3, 1, 1, 2}},
         "a node has labels of two folds, and would read one of them: node 3, folds 1 "
         "and 0");
  for (const LabelSeed& seed : std::initializer_list<LabelSeed>{
           {kNumNodes, 0, 0}, {-1, 0, 0}, {0, 2, 0}, {0, -1, 0}, {0, 0, 3}, {0, 0, -2}}) {
    expect(LabelOptions(2), {seed},
           "a label lies outside 30 nodes, 2 folds and 3 classes: node " +
               std::to_string(seed.node) + ", fold " + std::to_string(seed.fold) +
               ", class " + std::to_string(seed.label));
  }
  LabelEmbedderOptions windows = LabelOptions(2);
  windows.windows.push_back(30);
  expect(windows, {}, "label columns have 3 windows and 2 graphs");
}

// Forwards to another source, and fails from one snapshot on.
class FailingSource : public GraphSource {
 public:
  FailingSource(std::unique_ptr<GraphSource> source, int fails_at)
      : source_(std::move(source)), fails_at_(fails_at) {}

  arrow::Status Load(int num_snapshots, SnapshotGraph& graph) override {
    return source_->Load(num_snapshots, graph);
  }
  arrow::Status AdvanceTo(int snapshot, SnapshotGraph& graph) override {
    if (snapshot >= fails_at_) return arrow::Status::IOError("the disk is gone");
    return source_->AdvanceTo(snapshot, graph);
  }

 private:
  std::unique_ptr<GraphSource> source_;
  int fails_at_;
};

TEST(LabelEmbedder, ErrorsOfTheGraphsArePassedOn) {
  const LabelTask task(95, 2);
  LabelEmbedderOptions options = LabelOptions(2);
  int num_snapshots = 0;
  options.after_snapshot = [&](const SchedulePoint&) {
    ++num_snapshots;
    return arrow::Status::OK();
  };
  auto graphs = task.Graphs(options);
  graphs.back() = std::make_unique<FailingSource>(std::move(graphs.back()), 4);
  const auto embedder = LabelEmbedder::Make(options, task.schedule, task.seeds,
                                            task.Times(), std::move(graphs))
                            .ValueOrDie();
  EXPECT_EQ(embedder->Run().message(), "the disk is gone");
  EXPECT_EQ(num_snapshots, 4);
}

}  // namespace
}  // namespace coden
