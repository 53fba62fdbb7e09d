#include "coden/generate/sbm.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "generate/generated_files.h"

namespace coden {
namespace {

class Sbm : public GeneratedFiles {
 protected:
  GenerateSummary Generate(SbmOptions options, const std::string& name = "out") {
    options.out = Directory(name);
    edges_ = options.out + "/edges.parquet";
    features_ = options.out + "/features.parquet";
    labels_ = options.out + "/labels.parquet";
    return GenerateSbm(options, context_).ValueOrDie();
  }

  /// Label of every node at every step, from the rows of labels.parquet.
  std::vector<std::vector<int>> LabelsByStep(const SbmOptions& options) const {
    const auto node = Column<arrow::Int64Array>(labels_, "node");
    const auto label = Column<arrow::Int32Array>(labels_, "label");
    const auto time = Column<arrow::Int64Array>(labels_, "time");
    std::vector<std::vector<int>> by_step;
    std::vector<int> current(options.nodes, -1);
    std::size_t row = 0;
    for (std::int64_t step = 0; step < options.steps; ++step) {
      for (; row < node.size() && time[row] == step; ++row)
        current[node[row]] = label[row];
      by_step.push_back(current);
    }
    EXPECT_EQ(row, node.size()) << "times of labels are not sorted";
    return by_step;
  }

  std::string edges_;
  std::string features_;
  std::string labels_;
};

TEST_F(Sbm, DeclaresItsFlags) { CheckFlags<SbmOptions>(); }

TEST_F(Sbm, EqualSeedsGiveEqualBytes) {
  SbmOptions options{.nodes = 300, .steps = 12};
  Generate(options, "one");
  Generate(options, "two");
  options.seed = 1;
  Generate(options, "other");
  for (const char* file : {"/edges.parquet", "/features.parquet", "/labels.parquet"}) {
    const std::string one = Bytes(Directory("one") + file);
    EXPECT_EQ(one, Bytes(Directory("two") + file)) << file;
    EXPECT_NE(one, Bytes(Directory("other") + file)) << file;
  }
}

void CheckLog(const SbmOptions& options, const std::vector<std::int64_t>& src,
              const std::vector<std::int64_t>& dst, const std::vector<std::int64_t>& time,
              const std::vector<std::int8_t>& op) {
  EXPECT_TRUE(std::is_sorted(time.begin(), time.end()));
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> born;
  for (std::size_t row = 0; row < src.size(); ++row) {
    SCOPED_TRACE(row);
    ASSERT_NE(src[row], dst[row]);
    ASSERT_TRUE(std::min(src[row], dst[row]) >= 0 &&
                std::max(src[row], dst[row]) < options.nodes);
    const auto pair = std::minmax(src[row], dst[row]);
    if (op[row] == 1) {
      ASSERT_TRUE(born.emplace(pair, time[row]).second) << "inserted while present";
    } else {
      ASSERT_EQ(op[row], -1);
      ASSERT_TRUE(born.contains(pair)) << "deleted while absent";
      ASSERT_EQ(born[pair], time[row] - options.lifetime);
      born.erase(pair);
    }
  }
}

TEST_F(Sbm, ReplayFindsEveryInsertAbsentAndEveryDeletePresent) {
  const SbmOptions cases[] = {
      {},
      {.nodes = 40, .communities = 2, .steps = 50, .edges_per_step = 1.1, .lifetime = 4},
      {.nodes = 100, .steps = 20, .lifetime = 1},
      {.nodes = 200, .steps = 5, .lifetime = 8},
      {.nodes = 60, .communities = 3, .steps = 9, .within = 1, .switch_probability = 0.5},
      {.nodes = 60, .communities = 3, .steps = 9, .within = 0},
  };
  for (const SbmOptions& options : cases) {
    SCOPED_TRACE(options.nodes);
    const GenerateSummary summary = Generate(options);
    const auto op = Column<arrow::Int8Array>(edges_, "op");
    CheckLog(options, Column<arrow::Int64Array>(edges_, "src"),
             Column<arrow::Int64Array>(edges_, "dst"),
             Column<arrow::Int64Array>(edges_, "time"), op);
    EXPECT_EQ(summary.num_inserts, std::count(op.begin(), op.end(), 1));
    EXPECT_EQ(summary.num_deletes, std::count(op.begin(), op.end(), -1));
  }
}

TEST_F(Sbm, EveryLabelRowAfterTheFirstIsAChange) {
  const SbmOptions options{.nodes = 1000, .switch_probability = 0.02};
  const GenerateSummary summary = Generate(options);
  const auto node = Column<arrow::Int64Array>(labels_, "node");
  const auto label = Column<arrow::Int32Array>(labels_, "label");
  const auto time = Column<arrow::Int64Array>(labels_, "time");
  std::map<std::int64_t, int> current;
  for (std::size_t row = 0; row < node.size(); ++row) {
    ASSERT_TRUE(label[row] >= 0 && label[row] < options.communities);
    const bool first = !current.contains(node[row]);
    ASSERT_EQ(first, time[row] == 0);
    if (!first) {
      ASSERT_NE(current[node[row]], label[row]);
    }
    current[node[row]] = label[row];
  }
  EXPECT_EQ(current.size(), options.nodes);
  const auto changes = static_cast<std::int64_t>(node.size()) - options.nodes;
  EXPECT_EQ(summary.num_label_changes, changes);
  EXPECT_NEAR(static_cast<double>(changes), 0.02 * 1000 * 59, 120);
}

TEST_F(Sbm, CommunitiesStayBalancedAndHoldTheirShareOfEdges) {
  const SbmOptions options;
  Generate(options);
  const auto labels = LabelsByStep(options);
  for (const auto& at_step : {labels.front(), labels.back()}) {
    for (int community = 0; community < options.communities; ++community) {
      const auto size = std::count(at_step.begin(), at_step.end(), community);
      EXPECT_LE(std::abs(size - 400), 80) << community;
    }
  }
  const auto src = Column<arrow::Int64Array>(edges_, "src");
  const auto dst = Column<arrow::Int64Array>(edges_, "dst");
  const auto time = Column<arrow::Int64Array>(edges_, "time");
  const auto op = Column<arrow::Int8Array>(edges_, "op");
  double within = 0, inserts = 0;
  for (std::size_t row = 0; row < src.size(); ++row) {
    if (op[row] != 1) continue;
    ++inserts;
    within += labels[time[row]][src[row]] == labels[time[row]][dst[row]];
  }
  EXPECT_NEAR(within / inserts, options.within, 0.01);
}

TEST_F(Sbm, ProfiledNodesHaveTheMeanOfTheirFirstCommunity) {
  const SbmOptions options{.nodes = 5000,
                           .communities = 2,
                           .features = 4,
                           .steps = 2,
                           .switch_probability = 1,
                           .profiled = 0.5,
                           .signal = 3};
  Generate(options);
  const auto x = Features(features_);
  const auto label = LabelsByStep(options).front();
  double noise = 0;
  std::int64_t profiled = 0;
  for (int community = 0; community < 2; ++community) {
    std::vector<double> mean(4), square(4);
    double count = 0;
    for (std::int64_t node = 0; node < options.nodes; ++node) {
      if (label[node] != community || x[4 * node] == 0) continue;
      ++count;
      for (int i = 0; i < 4; ++i) {
        mean[i] += x[4 * node + i];
        square[i] += x[4 * node + i] * x[4 * node + i];
      }
    }
    double length = 0;
    for (int i = 0; i < 4; ++i) {
      length += mean[i] / count * mean[i] / count;
      noise += (square[i] / count - mean[i] / count * mean[i] / count) / 8;
    }
    EXPECT_NEAR(std::sqrt(length), 3.0, 0.15);
    profiled += static_cast<std::int64_t>(count);
  }
  EXPECT_NEAR(noise, 1.0, 0.05);
  EXPECT_NEAR(static_cast<double>(profiled), 2500, 150);
}

TEST_F(Sbm, StopsWithoutLeavingFiles) {
  arrow::StopSource source;
  source.RequestStop();
  const RunContext stopped{&progress_, source.token()};
  const std::string out = Directory("out");
  EXPECT_TRUE(GenerateSbm({.out = out}, stopped).status().IsCancelled());
  EXPECT_TRUE(std::filesystem::is_empty(out));
}

TEST_F(Sbm, RejectsWithTheRule) {
  const auto generate = [&](SbmOptions options) {
    return GenerateSbm(options, context_);
  };
  ExpectRejected(generate({}), "`out` must be a directory: ''");
  ExpectRejected(generate({.out = "x", .within = 1.5}),
                 "`within` must be a number in [0, 1]: '1.5'");
  ExpectRejected(generate({.out = "x", .switch_probability = NAN}),
                 "`switch` must be a number in [0, 1]: 'nan'");
  ExpectRejected(generate({.out = "x", .lifetime = 0}),
                 "`lifetime` must be a whole number from 1 to 1048576: '0'");
  ExpectRejected(generate({.out = "x", .nodes = 9}),
                 "`nodes` must be at least twice `communities`: 9 and 5");
  ExpectRejected(generate({.out = "x", .nodes = 20, .edges_per_step = 0.01}),
                 "`nodes` times `edges_per_step` must be at least 1: 20 and 0.01");
  ExpectRejected(
      generate({.out = "x", .nodes = 20, .communities = 2, .edges_per_step = 10}),
      "`nodes` * `edges_per_step` * `lifetime` edges must fill at most half of the pairs "
      "within communities (raise `nodes` or lower the others): 400 of 100");
}

}  // namespace
}  // namespace coden
