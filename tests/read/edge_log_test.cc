#include "coden/read/edge_log.h"

#include "coden/read/event_batch.h"
#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

struct ReadEvents {
  std::vector<EdgeEvent> events;
  std::unique_ptr<NodeIdMap> nodes;
  arrow::Status status;
};

// Open the log and push it through the stage in batches of `batch_rows`.
ReadEvents Read(const std::string& path, EventMode mode = EventMode::kInsert,
                std::int64_t batch_rows = 1000) {
  ReadEvents result;
  result.status = [&]() -> arrow::Status {
    InputOptions input;
    input.edges = path;
    ARROW_ASSIGN_OR_RAISE(const EdgeLog log, EdgeLog::Open(input, mode));
    ARROW_ASSIGN_OR_RAISE(result.nodes, NodeIdMap::Make(log.id_type));
    EventReader stage(path, mode, *result.nodes);
    ARROW_ASSIGN_OR_RAISE(const auto reader, log.Scan(batch_rows));
    ARROW_ASSIGN_OR_RAISE(const auto schema, stage.Bind(reader->schema()));
    EXPECT_TRUE(schema->Equals(*EventSchema()));
    const Emit emit = [&](BatchPtr batch) {
      const EventView view(*batch);
      for (std::int64_t row = 0; row < view.size(); ++row) {
        result.events.push_back(view[row]);
      }
      return arrow::Status::OK();
    };
    while (true) {
      BatchPtr batch;
      ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
      if (batch == nullptr) return stage.Finish(emit);
      ARROW_RETURN_NOT_OK(stage.Push(batch, emit));
    }
  }();
  return result;
}

std::vector<EventTime> Times(const ReadEvents& read) {
  std::vector<EventTime> times;
  for (const EdgeEvent& event : read.events) times.push_back(event.time);
  return times;
}

std::string Inserts(const ReadEvents& read) {
  std::string kinds;
  for (const EdgeEvent& event : read.events) {
    kinds += event.kind == EventKind::kInsert ? '+' : '-';
  }
  return kinds;
}

class EventReaderTest : public ::testing::Test {
 protected:
  // A log of three rows whose columns are replaced by `columns`.
  std::string Log(
      std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>> columns) {
    auto all = std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>>{
        {"src", ArrayOf(arrow::int64(), "[1, 2, 1]")},
        {"dst", ArrayOf(arrow::int64(), "[2, 3, 3]")},
        {"time", ArrayOf(arrow::int64(), "[4, 5, 5]")}};
    for (const auto& column : columns) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const auto& other) {
        return other.first == column.first;
      });
      if (same == all.end()) {
        all.push_back(column);
      } else {
        *same = column;
      }
    }
    return WriteParquet(folder_ / "e.parquet", *TableOf(all));
  }
  // Where a message about `column` begins.
  std::string At(const std::string& column) {
    return "'" + (folder_ / "e.parquet") + "', column '" + column + "'";
  }

  TempDir folder_;
};

TEST_F(EventReaderTest, GivesEventsWhateverTheBatches) {
  const std::string path = Log({});
  for (const std::int64_t batch_rows : {1, 2, 100}) {
    SCOPED_TRACE(batch_rows);
    const ReadEvents read = Read(path, EventMode::kToggle, batch_rows);
    CODEN_EXPECT_OK(read.status);
    ASSERT_EQ(read.events.size(), 3u);
    EXPECT_EQ(read.events[1].src, 1);
    EXPECT_EQ(read.events[1].dst, 2);
    EXPECT_EQ(read.events[2].src, 0);
    EXPECT_EQ(read.events[2].kind, EventKind::kToggle);
    EXPECT_EQ(Times(read), (std::vector<EventTime>{4, 5, 5}));
  }
}

TEST_F(EventReaderTest, ReadsIdsOfEveryType) {
  for (const auto& type :
       {arrow::int8(), arrow::int32(), arrow::uint32(), arrow::uint64()}) {
    SCOPED_TRACE(type->ToString());
    const ReadEvents read = Read(Log({{"src", ArrayOf(type, "[1, 2, 1]")}}));
    CODEN_EXPECT_OK(read.status);
    EXPECT_EQ(read.nodes->Show(1), "2");
  }
  for (const auto& type : {arrow::utf8(), arrow::large_utf8(),
                           arrow::dictionary(arrow::int32(), arrow::utf8())}) {
    SCOPED_TRACE(type->ToString());
    const ReadEvents read = Read(Log({{"src", ArrayOf(type, R"(["a", "b", "a"])")},
                                      {"dst", ArrayOf(type, R"(["b", "c", "c"])")}}));
    CODEN_EXPECT_OK(read.status);
    EXPECT_EQ(read.nodes->size(), 3);
    EXPECT_EQ(read.nodes->Show(2), "'c'");
  }
}

TEST_F(EventReaderTest, ReadsTimesOfEveryType) {
  for (const auto& type : {arrow::int16(), arrow::uint64(), arrow::date32(),
                           arrow::timestamp(arrow::TimeUnit::MILLI),
                           arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")}) {
    SCOPED_TRACE(type->ToString());
    const ReadEvents read = Read(Log({{"time", ArrayOf(type, "[4, 5, 5]")}}));
    CODEN_EXPECT_OK(read.status);
    EXPECT_EQ(Times(read), (std::vector<EventTime>{4, 5, 5}));
  }
}

TEST_F(EventReaderTest, ReadsOpsOfEveryType) {
  for (const auto& [type, json] :
       {std::pair{arrow::int8(), "[1, -1, 1]"}, std::pair{arrow::int64(), "[1, -1, 1]"},
        std::pair{arrow::boolean(), "[true, false, true]"},
        std::pair{arrow::utf8(), R"(["insert", "delete", "1"])"},
        std::pair{arrow::dictionary(arrow::int8(), arrow::utf8()),
                  R"(["insert", "-1", "insert"])"}}) {
    SCOPED_TRACE(type->ToString());
    const ReadEvents read = Read(Log({{"op", ArrayOf(type, json)}}), EventMode::kSigned);
    CODEN_EXPECT_OK(read.status);
    EXPECT_EQ(Inserts(read), "+-+");
  }
}

TEST_F(EventReaderTest, RefusesNullsWithTheirRow) {
  const auto ops = ArrayOf(arrow::int64(), "[1, 1, 1]");
  for (const std::string column : {"src", "dst", "time", "op"}) {
    SCOPED_TRACE(column);
    const std::string path =
        Log({{"op", ops}, {column, ArrayOf(arrow::int64(), "[1, 1, null]")}});
    for (const std::int64_t batch_rows : {1, 2, 100}) {
      ExpectInputError(
          Read(path, EventMode::kSigned, batch_rows).status,
          At(column) + ", row 2: a null is not allowed here; fill or remove the row");
    }
  }
}

TEST_F(EventReaderTest, RefusesNegativeTimes) {
  const std::string path = Log({{"time", ArrayOf(arrow::int64(), "[1, -3, 2]")}});
  ExpectInputError(Read(path).status,
                   At("time") +
                       ", row 1: a time must not be negative; shift the times of all "
                       "inputs: -3");
}

TEST_F(EventReaderTest, RefusesFallingTimesWhereverTheBatchesAreCut) {
  const std::string path = Log({{"time", ArrayOf(arrow::int64(), "[4, 9, 5]")}});
  for (const std::int64_t batch_rows : {1, 2, 100}) {
    SCOPED_TRACE(batch_rows);
    ExpectInputError(
        Read(path, EventMode::kInsert, batch_rows).status,
        At("time") +
            ", row 2: times must not fall from row to row; sort the log by "
            "time, or set `input.late = drop` to drop and count such rows: 5 "
            "after 9");
  }
}

TEST_F(EventReaderTest, DropsLateRowsWithoutReadingThem) {
  const std::string path =
      WriteParquet(folder_ / "e.parquet",
                   *TableOf({{"src", ArrayOf(arrow::int64(), "[1, 2, 77, null, 1, 5]")},
                             {"dst", ArrayOf(arrow::int64(), "[2, 3, 78, 8, 4, 6]")},
                             {"time", ArrayOf(arrow::int64(), "[4, 9, 5, 8, 9, 10]")}}));
  for (const std::int64_t batch_rows : {1, 2, 100}) {
    SCOPED_TRACE(batch_rows);
    InputOptions input;
    input.edges = path;
    const EdgeLog log = EdgeLog::Open(input, EventMode::kInsert).ValueOrDie();
    const auto nodes = NodeIdMap::Make(log.id_type).ValueOrDie();
    EventReader stage(path, EventMode::kInsert, *nodes,
                      {.late = {LatePolicy::kDrop, /*predicted=*/4}});
    const auto reader = log.Scan(batch_rows).ValueOrDie();
    CODEN_EXPECT_OK(stage.Bind(reader->schema()).status());
    std::vector<std::int64_t> rows;
    for (BatchPtr batch;;) {
      CODEN_EXPECT_OK(reader->ReadNext(&batch));
      if (batch == nullptr) break;
      CODEN_EXPECT_OK(stage.Push(batch, [&](const BatchPtr& events) {
        const EventView view(*events);
        rows.insert(rows.end(), view.rows().begin(), view.rows().end());
        return arrow::Status::OK();
      }));
    }
    EXPECT_EQ(rows, (std::vector<std::int64_t>{1, 4, 5}));
    EXPECT_EQ(stage.num_late(), 3);
    EXPECT_EQ(nodes->size(), 6);  // 2, 3, 1, 4, 5, 6
  }
}

TEST_F(EventReaderTest, RefusesOtherOps) {
  for (const auto& [type, json, value] :
       {std::tuple{arrow::int64(), "[1, 0, 1]", "'0'"},
        std::tuple{arrow::utf8(), R"(["insert", "add", "delete"])", "'add'"}}) {
    ExpectInputError(
        Read(Log({{"op", ArrayOf(type, json)}}), EventMode::kSigned).status,
        At("op") + ", row 1: an op must be 1 or insert, -1 or delete: " + value);
  }
  ExpectInputError(
      Read(Log({{"op", ArrayOf(arrow::float64(), "[1, 1, 1]")}}), EventMode::kSigned)
          .status,
      At("op") +
          ": an op must be a whole number, a string or a bool; convert the column: "
          "double");
  ExpectInputErrorWith(
      Read(Log({}), EventMode::kSigned).status,
      At("op") + ": there is no such column; set `input.op` to one of: ");
}

TEST_F(EventReaderTest, RefusesIdsBeyondInt64) {
  const std::string path =
      Log({{"src", ArrayOf(arrow::uint64(), "[1, 9223372036854775808, 1]")}});
  ExpectInputErrorWith(Read(path).status,
                       At("src") + ", row 1: a whole number must be below 2^63");
}

TEST_F(EventReaderTest, RefusesOtherTypesAndNoRows) {
  ExpectInputError(Read(Log({{"src", ArrayOf(arrow::float64(), "[1, 2, 3]")}})).status,
                   At("src") +
                       ": node ids must be whole numbers or strings; convert the column: "
                       "double");
  ExpectInputError(
      Read(Log({{"dst", ArrayOf(arrow::utf8(), R"(["1", "2", "3"])")}})).status,
      At("dst") +
          ": both ends of an edge must be of one kind, whole numbers or strings; "
          "convert one: int64 and string");
  ExpectInputError(
      Read(Log({{"time", ArrayOf(arrow::float64(), "[1, 2, 3]")}})).status,
      At("time") +
          ": a time must be a whole number or a timestamp; convert the column: "
          "double");
  ExpectInputError(Read(WriteIntegers(folder_ / "none.parquet",
                                      {{"src", "[]"}, {"dst", "[]"}, {"time", "[]"}}))
                       .status,
                   "'" + (folder_ / "none.parquet") +
                       "': the edge log has no rows; give at least one event");
  EXPECT_EQ(FaultOf(Read("").status), Fault::kUsage);
}

// A null can hide in the values of a dictionary, where the column itself has none.
TEST_F(EventReaderTest, CountsRowsFromWhereTheStreamBegins) {
  const auto nodes = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  EventReader stage("e.parquet", EventMode::kInsert, *nodes, {.first_row = 100});
  const auto table = TableOf({{"src", ArrayOf(arrow::int64(), "[1, 2]")},
                              {"dst", ArrayOf(arrow::int64(), "[1, null]")},
                              {"time", ArrayOf(arrow::int64(), "[1, 2]")}});
  const auto batch = table->CombineChunksToBatch().ValueOrDie();
  CODEN_EXPECT_OK(stage.Bind(batch->schema()).status());
  ExpectInputErrorWith(stage.Push(batch, [](BatchPtr) { return arrow::Status::OK(); }),
                       "column 'dst', row 101: a null is not allowed");
}

TEST_F(EventReaderTest, RefusesANullInsideADictionary) {
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto hidden =
      std::make_shared<arrow::DictionaryArray>(type, ArrayOf(arrow::int8(), "[0, 1, 0]"),
                                               ArrayOf(arrow::utf8(), R"(["a", null])"));
  const auto nodes = NodeIdMap::Make(arrow::utf8()).ValueOrDie();
  EventReader stage("e.parquet", EventMode::kInsert, *nodes);
  const auto table = TableOf({{"src", hidden},
                              {"dst", ArrayOf(arrow::utf8(), R"(["b", "b", "b"])")},
                              {"time", ArrayOf(arrow::int64(), "[1, 2, 3]")}});
  CODEN_EXPECT_OK(stage.Bind(table->schema()).status());
  const auto batch = table->CombineChunksToBatch().ValueOrDie();
  ExpectInputError(
      stage.Push(batch, [](BatchPtr) { return arrow::Status::OK(); }),
      "'e.parquet', column 'src', row 1: a null is not allowed here; fill or remove the "
      "row");
}

}  // namespace
}  // namespace coden
