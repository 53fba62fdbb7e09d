// Damaged history files: their numbers lead into memory, so none is believed.

#include "coden/state/history.h"

#include "state/history_fixture.h"

namespace coden {
namespace {

using test::HistoryTest;
using test::kFolder;

TEST_F(HistoryTest, RowsOutOfOrderAreCorruption) {
  WriteChanges("[0, 0, 1, 1, 2]", "[0, 3, 0, 1, 3]", "[1, 2, 1, 1, 2]",
               "[true, true, false, true, false]");
  CODEN_EXPECT_OK(Loaded());
  CODEN_EXPECT_OK(Followed());
  // Sources fall, targets fall, an edge stands twice, snapshots fall.
  WriteChanges("[0, 0]", "[2, 1]", "[0, 0]", "[true, true]");
  ExpectDamaged();
  WriteChanges("[1, 1]", "[2, 2]", "[3, 1]", "[true, true]");
  ExpectDamaged();
  WriteChanges("[1, 1]", "[2, 2]", "[1, 1]", "[true, true]");
  ExpectDamaged();
  WriteChanges("[1, 1]", "[2, 2]", "[1, 1]", "[false, true]");
  ExpectDamaged();
  WriteChanges("[0, 2, 1]", "[0, 1, 2]", "[1, 2, 3]", "[true, true, true]");
  ExpectDamaged();
  WriteChanges("[-1, 0]", "[0, 1]", "[1, 2]", "[true, true]");
  ExpectDamaged();
}

TEST_F(HistoryTest, NodesBeyondTheRunAreCorruption) {
  WriteChanges("[1]", "[4]", "[4]", "[true]");
  CODEN_EXPECT_OK(Loaded());
  for (const std::string node : {"[5]", "[-1]", "[2147483647]", "[-2147483648]"}) {
    SCOPED_TRACE(node);
    WriteChanges("[1]", node, "[4]", "[true]");
    ExpectDamaged();
    WriteChanges("[1]", "[4]", node, "[true]");
    ExpectDamaged();
    const auto graph = arrow::schema({arrow::field("source", arrow::int32(), false),
                                      arrow::field("target", arrow::int32(), false)});
    for (const bool is_source : {false, true}) {
      WriteTable(RunLayout::HistoryGraph(kFolder, 1), *graph,
                 {ArrayOf(arrow::int32(), is_source ? node : "[4]"),
                  ArrayOf(arrow::int32(), is_source ? "[4]" : node)});
      ExpectDamaged(Loaded());
    }
  }
}

TEST_F(HistoryTest, FilesOfAnotherSchemaAreCorruption) {
  const auto schema = HistorySchema();
  const arrow::ArrayVector columns = {
      ArrayOf(arrow::int32(), "[0]"), ArrayOf(arrow::int32(), "[1]"),
      ArrayOf(arrow::int32(), "[2]"), ArrayOf(arrow::boolean(), "[true]")};
  const std::string changes = RunLayout::HistoryChanges(kFolder, 0);
  WriteTable(changes, *schema, columns);
  CODEN_EXPECT_OK(Loaded());
  WriteTable(changes, *arrow::schema({schema->field(0), schema->field(1)}),
             {columns[0], columns[1]});
  ExpectDamaged();
  WriteTable(
      changes,
      *schema->SetField(1, arrow::field("src", arrow::int32(), false)).ValueOrDie(),
      columns);
  ExpectDamaged();
  auto wide = columns;
  wide[2] = ArrayOf(arrow::int64(), "[2]");
  WriteTable(
      changes,
      *schema->SetField(2, arrow::field("target", arrow::int64(), false)).ValueOrDie(),
      wide);
  ExpectDamaged();
  WriteTable(changes,
             *schema->SetField(3, arrow::field("present", arrow::boolean())).ValueOrDie(),
             columns);
  ExpectDamaged();
  WriteTable(RunLayout::HistoryGraph(kFolder, 1), *schema, columns);
  ExpectDamaged(Loaded());
}

TEST_F(HistoryTest, AnEdgeThatGoesAndIsNotThereIsCorruption) {
  WriteChanges("[0, 1, 2]", "[0, 0, 0]", "[1, 1, 1]", "[true, false, false]");
  ExpectDamaged();
  WriteChanges("[1]", "[0]", "[1]", "[false]");
  ExpectDamaged();
}

TEST_F(HistoryTest, AnEdgeThatComesAndIsThereIsCorruption) {
  WriteChanges("[0, 2]", "[0, 0]", "[1, 1]", "[true, true]");
  ExpectDamaged();
  // The net changes of several snapshots do not always tell how often an edge has come.
  WriteChanges("[0, 0, 1, 2]", "[0, 0, 0, 0]", "[1, 2, 2, 1]",
               "[true, true, false, true]");
  ExpectDamaged(Followed());
}

TEST_F(HistoryTest, AnUndirectedEdgeHasOneName) {
  for (const bool directed : {false, true}) {
    WriteChanges("[0, 1]", "[1, 3]", "[3, 1]", "[true, true]");
    SnapshotGraph loaded(directed), followed(directed);
    History history = Open(5);
    const arrow::Status statuses[] = {Open(5).Load(2, loaded),
                                      history.AdvanceTo(0, followed),
                                      history.AdvanceTo(1, followed)};
    CODEN_EXPECT_OK(statuses[1]);
    for (const arrow::Status& status : {statuses[0], statuses[2]}) {
      if (!directed) {
        ExpectDamaged(status);
      } else {
        CODEN_EXPECT_OK(status);
      }
    }
  }
}

TEST_F(HistoryTest, AFileThatIsGoneOrChangedIsCorruption) {
  WriteChanges("[0]", "[0]", "[1]", "[true]");
  const std::string name = files_[0].path;
  std::string text = store_->ReadText(name).ValueOrDie();
  text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
  CODEN_EXPECT_OK(store_->WriteText(name, text));
  ExpectDamaged();
  CODEN_EXPECT_OK(store_->Remove(name));
  ExpectDamaged();
}

}  // namespace
}  // namespace coden
