#include "coden/generate/rmat.h"

#include <algorithm>
#include <cmath>

#include "generate/generated_files.h"

namespace coden {
namespace {

class Rmat : public GeneratedFiles {
 protected:
  GenerateSummary Generate(const RmatOptions& options) {
    return GenerateRmat(options, context_).ValueOrDie();
  }
};

TEST_F(Rmat, DeclaresItsFlags) { CheckFlags<RmatOptions>(); }

TEST_F(Rmat, EqualSeedsGiveEqualBytes) {
  RmatOptions options{.scale = 10, .edges = 100'000, .features = 3};
  for (const char* name : {"one", "two", "other"}) {
    options.out = Directory(name);
    options.seed = name == std::string("other") ? 1 : 0;
    const GenerateSummary summary = Generate(options);
    EXPECT_EQ(summary.num_nodes, 1024);
    EXPECT_EQ(summary.num_inserts, 100'000);
    EXPECT_EQ(summary.files.size(), 2);
  }
  for (const char* file : {"/edges.parquet", "/features.parquet"}) {
    const std::string one = Bytes(Directory("one") + file);
    EXPECT_EQ(one, Bytes(Directory("two") + file));
    EXPECT_NE(one, Bytes(Directory("other") + file));
  }
}

TEST_F(Rmat, LongerLogBeginsWithTheShorter) {
  const std::string small = Directory("small");
  const std::string large = Directory("large");
  Generate({.out = small, .scale = 17, .edges = 1'000});
  Generate({.out = large, .scale = 17, .edges = 150'000});
  for (const char* column : {"src", "dst"}) {
    const auto few = Column<arrow::Int64Array>(small + "/edges.parquet", column);
    const auto many = Column<arrow::Int64Array>(large + "/edges.parquet", column);
    ASSERT_EQ(few.size(), 1'000);
    ASSERT_EQ(many.size(), 150'000);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  }
}

TEST_F(Rmat, TimesRiseAndAreEquallyFrequent) {
  const std::string out = Directory("out");
  Generate({.out = out, .edges = 70'001, .steps = 7});
  const auto times = Column<arrow::Int64Array>(out + "/edges.parquet", "time");
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  for (std::int64_t time = 0; time < 7; ++time) {
    const auto rows = std::count(times.begin(), times.end(), time);
    EXPECT_LE(std::abs(rows - 10'000), 1) << time;
  }
}

// Each bit of the ends is one choice of quadrant, so the shares can be counted per level.
TEST_F(Rmat, QuadrantsHaveTheirSharesAtEveryLevel) {
  const std::string out = Directory("out");
  constexpr int kScale = 5;
  constexpr int kEdges = 100'000;
  Generate({.out = out, .scale = kScale, .edges = kEdges, .a = 0.5, .b = 0.3, .c = 0.15});
  const auto src = Column<arrow::Int64Array>(out + "/edges.parquet", "src");
  const auto dst = Column<arrow::Int64Array>(out + "/edges.parquet", "dst");
  for (int level = 0; level < kScale; ++level) {
    double count[4] = {};
    for (int row = 0; row < kEdges; ++row) {
      ++count[2 * (src[row] >> level & 1) + (dst[row] >> level & 1)];
    }
    EXPECT_NEAR(count[0] / kEdges, 0.5, 0.01) << level;
    EXPECT_NEAR(count[1] / kEdges, 0.3, 0.01) << level;
    EXPECT_NEAR(count[2] / kEdges, 0.15, 0.01) << level;
    EXPECT_NEAR(count[3] / kEdges, 0.05, 0.01) << level;
  }
  EXPECT_LT(*std::max_element(src.begin(), src.end()), 1 << kScale);
}

TEST_F(Rmat, FeaturesAreGaussianAndOptional) {
  const std::string out = Directory("out");
  EXPECT_EQ(Generate({.out = out, .scale = 12, .edges = 100}).files.size(), 1);
  EXPECT_FALSE(std::filesystem::exists(out + "/features.parquet"));
  Generate({.out = out, .scale = 12, .edges = 100, .features = 9});
  const auto x = Features(out + "/features.parquet");
  ASSERT_EQ(x.size(), 4096 * 9);
  double mean = 0, square = 0;
  for (const float value : x) {
    mean += value;
    square += value * value;
  }
  EXPECT_NEAR(mean / static_cast<double>(x.size()), 0.0, 0.02);
  EXPECT_NEAR(square / static_cast<double>(x.size()), 1.0, 0.04);
}

TEST_F(Rmat, StopsWithoutLeavingFiles) {
  const std::string out = Directory("out");
  arrow::StopSource source;
  source.RequestStop();
  const RunContext stopped{&progress_, source.token()};
  EXPECT_TRUE(GenerateRmat({.out = out}, stopped).status().IsCancelled());
  EXPECT_TRUE(std::filesystem::is_empty(out));
}

TEST_F(Rmat, RejectsWithTheRule) {
  const auto generate = [&](RmatOptions options) {
    return GenerateRmat(options, context_);
  };
  ExpectRejected(generate({}), "`out` must be a directory: ''");
  ExpectRejected(generate({.out = "x", .scale = 41}),
                 "`scale` must be a whole number from 1 to 40: '41'");
  ExpectRejected(generate({.out = "x", .a = -0.5}),
                 "`a` must be a number in [0, 1]: '-0.5'");
  ExpectRejected(generate({.out = "x", .a = 0.9}),
                 "`a` + `b` + `c` must be at most 1: 0.9, 0.19 and 0.19");
  ExpectRejected(generate({.out = "x", .edges = 5, .steps = 6}),
                 "`steps` must be at most `edges`: 6 and 5");
}

}  // namespace
}  // namespace coden
