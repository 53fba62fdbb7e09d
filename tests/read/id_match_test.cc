#include "coden/read/id_match.h"

#include <algorithm>

#include "support/parquet.h"
#include "support/status.h"

namespace coden {
namespace {

std::unique_ptr<NodeIdMap> MapOf(const std::shared_ptr<arrow::DataType>& type,
                                 const std::string& ids) {
  auto nodes = NodeIdMap::Make(type).ValueOrDie();
  std::vector<NodeId> numbers;
  CODEN_EXPECT_OK(nodes->Encode(*ArrayOf(type, ids), &numbers));
  return nodes;
}

LogNodes LogOf(const NodeIdMap& nodes) {
  LogNodes log;
  for (NodeId node = 0; node < nodes.size(); ++node) log.Add(node, nodes);
  return log;
}

// An input whose first `matched` nodes are in the log.
IdMatch MatchOf(const NodeIdMap& nodes, NodeId matched) {
  IdMatch match;
  for (NodeId node = 0; node < nodes.size(); ++node)
    match.Add(node, /*num_rows=*/10, node < matched, nodes);
  return match;
}

TEST(IdMatch, ATrailingBlankIsRefusedAndSeen) {
  const auto log = MapOf(arrow::utf8(), R"(["a", "b", "c"])");
  const auto here = MapOf(arrow::utf8(), R"(["a ", "b ", "c "])");
  EXPECT_EQ(
      MatchOf(*here, 0).Refusal(LogOf(*log)),
      "none of the 30 rows names a node of the edge log; write the ids as the log "
      "has them, to the last blank: 'a ', 'b ' here, 'a', 'b' in the log, which has "
      "3 nodes");
}

TEST(IdMatch, InvisibleCharactersAreSeen) {
  const auto here = MapOf(arrow::utf8(), "[\"a\u00a0\", \"\u200bb\\t\"]");
  EXPECT_EQ(ShowId(0, *here), "'a\\u{a0}'");
  EXPECT_EQ(ShowId(1, *here), "'\\u{200b}b\\t'");
  const auto whole = MapOf(arrow::int64(), "[-7]");
  EXPECT_EQ(ShowId(0, *whole), "-7");
}

TEST(IdMatch, BelowHalfIsAWarningWithThePercentageOfTheRows) {
  const auto here = MapOf(arrow::int64(), "[1, 2, 3, 4, 5]");
  const LogNodes log = LogOf(*here);
  EXPECT_EQ(MatchOf(*here, 2).Warning("features"),
            "features: 40.0 % of the rows (20 of 50) name a node of the edge log; the "
            "others do not, such as 3, 4");
  EXPECT_EQ(MatchOf(*here, 2).Refusal(log), std::nullopt);
  EXPECT_EQ(MatchOf(*here, 3).Warning("features"), std::nullopt);
  EXPECT_EQ(MatchOf(*here, 5).unmatched(), 0);
  EXPECT_EQ(IdMatch().Refusal(log), std::nullopt);
}

}  // namespace
}  // namespace coden
