#include "coden/snapshot/snapshot_rows.h"

#include "coden/base/error.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

class SnapshotRowsTest : public ::testing::Test {
 protected:
  // Write a snapshot as its file is, with lists of `type`.
  void Write(
      int snapshot, const std::string& nodes, const std::string& embeddings,
      const std::shared_ptr<arrow::DataType>& type = arrow::list(arrow::float32())) {
    const auto ids = ArrayOf(id_type_, nodes);
    const auto vectors = ArrayOf(type, embeddings);
    Put(snapshot,
        *arrow::RecordBatch::Make(arrow::schema({arrow::field("node", id_type_),
                                                 arrow::field("embedding", type)}),
                                  ids->length(), {ids, vectors}));
  }

  void Put(int snapshot, const arrow::RecordBatch& batch) {
    const auto file = StageParquetFile(*store_, RunLayout::Snapshot(snapshot), batch);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    CODEN_EXPECT_OK(store_->Move(file->staged, file->path));
  }

  static SchedulePoint Point(int snapshot, int base) {
    SchedulePoint point;
    point.snapshot = snapshot;
    point.base = base;
    return point;
  }

  void Expect(const arrow::Result<SnapshotRows>& rows, const std::string& nodes,
              const std::string& numbers) {
    ASSERT_TRUE(rows.ok()) << rows.status().ToString();
    EXPECT_TRUE(rows->nodes()->Equals(*ArrayOf(id_type_, nodes)))
        << rows->nodes()->ToString();
    EXPECT_TRUE(rows->numbers()->Equals(*ArrayOf(arrow::float32(), numbers)))
        << rows->numbers()->ToString();
  }

  void ExpectCorruption(const arrow::Result<SnapshotRows>& rows,
                        const std::string& part) {
    EXPECT_EQ(FaultOf(rows.status()), Fault::kCorruption) << rows.status().ToString();
    EXPECT_NE(rows.status().message().find(part), std::string::npos)
        << rows.status().message();
  }

  TempDir folder_;
  std::shared_ptr<RunStore> store_ = RunStore::Open(folder_ / "run").ValueOrDie();
  std::shared_ptr<arrow::DataType> id_type_ = arrow::int64();
  SnapshotReader reader_{*store_};
};

TEST_F(SnapshotRowsTest, ReadsEveryLayoutAndPrecision) {
  for (const auto& type : {arrow::list(arrow::float32()), arrow::list(arrow::float16()),
                           arrow::fixed_size_list(arrow::float32(), 2),
                           arrow::fixed_size_list(arrow::float16(), 2)}) {
    SCOPED_TRACE(type->ToString());
    Write(0, "[7, 3]", "[[1, 0.5], [3, -4]]", type);
    Expect(SnapshotRows::Read(*store_, RunLayout::Snapshot(0)), "[7, 3]",
           "[1, 0.5, 3, -4]");
  }
  for (const auto& type : {arrow::float32(), arrow::float16()}) {
    SCOPED_TRACE(type->ToString());
    const auto columns = TableOf({{"node", ArrayOf(arrow::int64(), "[7, 3]")},
                                  {"e0", ArrayOf(type, "[1, 3]")},
                                  {"e1", ArrayOf(type, "[0.5, -4]")}});
    Put(0, *columns->CombineChunksToBatch().ValueOrDie());
    Expect(SnapshotRows::Read(*store_, RunLayout::Snapshot(0)), "[7, 3]",
           "[1, 0.5, 3, -4]");
  }
}

TEST_F(SnapshotRowsTest, RowsLieOverThoseOfTheBaseAndNewNodesComeBehind) {
  Write(0, "[5, 4, 3]", "[[1, 1], [2, 2], [3, 3]]");
  Write(1, "[]", "[]");
  Write(2, "[3, 9, 8, 5]", "[[3, 8], [9, 9], [8, 8], [1, 8]]");
  Write(3, "[4, 9]", "[[0, 1], [0, 2]]");
  Expect(reader_.Read(Point(0, 0)), "[5, 4, 3]", "[1, 1, 2, 2, 3, 3]");
  Expect(reader_.Read(Point(1, 0)), "[5, 4, 3]", "[1, 1, 2, 2, 3, 3]");
  Expect(reader_.Read(Point(2, 0)), "[5, 4, 3, 9, 8]", "[1, 8, 2, 2, 3, 8, 9, 9, 8, 8]");
  Expect(reader_.Read(Point(3, 3)), "[4, 9]", "[0, 1, 0, 2]");
  // In any order.
  Expect(reader_.Read(Point(1, 0)), "[5, 4, 3]", "[1, 1, 2, 2, 3, 3]");
}

TEST_F(SnapshotRowsTest, IdsMayBeStringsAndTheBaseEmpty) {
  id_type_ = arrow::utf8();
  Write(0, "[]", "[]");
  Write(1, R"(["b", "a"])", "[[1], [2]]");
  Expect(reader_.Read(Point(1, 0)), R"(["b", "a"])", "[1, 2]");
  Expect(reader_.Read(Point(0, 0)), "[]", "[]");
}

TEST_F(SnapshotRowsTest, FilesThatDoNotFitTogetherAreCorrupt) {
  Write(0, "[5, 4]", "[[1, 1], [2, 2]]");
  Write(1, "[4]", "[[1, 2, 3]]");
  ExpectCorruption(reader_.Read(Point(1, 0)), "embeddings of one length: 2 and, in '");
  ExpectCorruption(SnapshotReader(*store_).Read(Point(0, 0), 3),
                   "embeddings of one length: 3 and, in '");
  id_type_ = arrow::utf8();
  Write(2, R"(["4"])", "[[1, 2]]");
  ExpectCorruption(reader_.Read(Point(2, 0)), "ids of one type: int64 and string");
  id_type_ = arrow::int64();
  Write(3, "[5, 5]", "[[1, 1], [2, 2]]");
  Write(4, "[5]", "[[1, 1]]");
  ExpectCorruption(reader_.Read(Point(4, 3)), "one row per node");
  Write(5, "[5, 4]", "[[1, 1], [2]]");
  ExpectCorruption(reader_.Read(Point(5, 5)),
                   "every row must have 2 numbers, row 1 has 1");
  Write(6, "[5]", "[[1.5]]", arrow::list(arrow::float64()));
  ExpectCorruption(reader_.Read(Point(6, 6)), "must be float or halffloat: double");
}

}  // namespace
}  // namespace coden
