#include "coden/report/inspect.h"

#include <bit>
#include <cstring>
#include <fstream>

#include "coden/sample/schedule.h"
#include "coden/snapshot/snapshot_writer.h"
#include "coden/store/commit.h"
#include "coden/store/run_layout.h"
#include "report/sample_run.h"
#include "support/parquet.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

// The fact called `key` of the first table, as people see it; "none" where it is not.
std::string Fact(const std::vector<ResultsTable>& tables, const std::string& key) {
  const ResultsTable& facts = tables.at(0);
  EXPECT_TRUE(facts.is_record);
  for (std::size_t i = 0; i < facts.columns.size(); ++i) {
    if (facts.columns[i].key == key)
      return CellText(facts.columns[i], facts.rows.at(0).at(i));
  }
  return "none";
}

// All rows of the table called `title`, "a|b" each.
std::vector<std::string> Rows(const std::vector<ResultsTable>& tables,
                              const std::string& title) {
  std::vector<std::string> rows;
  for (const auto& table : tables) {
    if (table.title != title) continue;
    for (const auto& row : table.rows) {
      std::string text;
      for (std::size_t i = 0; i < row.size(); ++i) {
        text += (i == 0 ? "" : "|") + CellText(table.columns[i], row[i]);
      }
      rows.push_back(text);
    }
  }
  return rows;
}

using Lines = std::vector<std::string>;

void ExpectCorruption(const arrow::Status& status, const std::string& part) {
  EXPECT_EQ(FaultOf(status), Fault::kCorruption) << status.ToString();
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

std::string Safetensors(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t size = header.size();
  std::string bytes(sizeof(size), '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  return bytes + header + std::string(data_bytes, '\0');
}

TEST(Inspect, DescribesAnEdgeLogFromItsFooters) {
  TempDir folder;
  const auto table = TableOf({{"src", ArrayOf(arrow::int64(), "[1, 2, 3]")},
                              {"dst", ArrayOf(arrow::int64(), "[2, 3, 1]")},
                              {"time", ArrayOf(arrow::int32(), "[7, 9, 30]")}});
  const std::string path = WriteParquet(folder / "e.parquet", *table, 2);
  const auto tables = Inspect(path).ValueOrDie();
  EXPECT_EQ(Fact(tables, "kind"), "edge log");
  EXPECT_EQ(Fact(tables, "files"), "1");
  EXPECT_EQ(Fact(tables, "rows"), "3");
  EXPECT_EQ(Fact(tables, "row_groups"), "2");
  EXPECT_EQ(Fact(tables, "bytes"), std::to_string(std::filesystem::file_size(path)));
  EXPECT_EQ(Fact(tables, "first_time"), "7");
  EXPECT_EQ(Fact(tables, "last_time"), "30");
  EXPECT_EQ(Rows(tables, "Columns"), (Lines{"src|int64", "dst|int64", "time|int32"}));
}

TEST(Inspect, ReadsTheTimesWhereTheFootersDoNotTellThem) {
  TempDir folder;
  const auto batch =
      TableOf({{"src", ArrayOf(arrow::int64(), "[1, 2]")},
               {"dst", ArrayOf(arrow::int64(), "[2, 3]")},
               {"time", ArrayOf(arrow::timestamp(arrow::TimeUnit::MILLI), "[8, 5]")}})
          ->CombineChunksToBatch()
          .ValueOrDie();
  auto file = arrow::io::FileOutputStream::Open(folder / "log/e.parquet").ValueOrDie();
  CODEN_EXPECT_OK(parquet::arrow::WriteTable(
      *arrow::Table::FromRecordBatches({batch}).ValueOrDie(),
      arrow::default_memory_pool(), file, 10,
      parquet::WriterProperties::Builder().disable_statistics()->build()));
  CODEN_EXPECT_OK(file->Close());
  const auto tables = Inspect(folder / "log").ValueOrDie();
  EXPECT_EQ(Fact(tables, "first_time"), "5");
  EXPECT_EQ(Fact(tables, "last_time"), "8");
}

TEST(Inspect, TellsFeaturesLabelsAndOtherTablesApart) {
  TempDir folder;
  const auto node = ArrayOf(arrow::int64(), "[1]");
  const auto x = ArrayOf(arrow::list(arrow::float32()), "[[1]]");
  const auto kind =
      [&](const std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>>&
              columns) {
        const std::string path = WriteParquet(folder / "a.parquet", *TableOf(columns));
        return Fact(Inspect(path).ValueOrDie(), "kind");
      };
  EXPECT_EQ(kind({{"node", node}, {"x", x}}), "features");
  EXPECT_EQ(kind({{"node", node}, {"x", x}, {"time", node}}), "feature updates");
  EXPECT_EQ(kind({{"node", node}, {"label", node}}), "labels");
  EXPECT_EQ(kind({{"node", node}}), "table");
}

TEST(Inspect, ShowsWhatASnapshotSaysOfItself) {
  TempDir folder;
  ParquetFileOptions options;
  options.metadata = arrow::key_value_metadata(
      {{"coden.format_version", "1"},
       {"coden.run_id", "abc"},
       {"coden.parameters", "embed.alpha = 0.2\nrun.seed = 7\n"},
       {"coden.snapshot_time", "2004"},
       {"coden.dim", "2"}});
  const auto batch =
      TableOf({{"node", ArrayOf(arrow::int64(), "[1]")},
               {"embedding", ArrayOf(arrow::list(arrow::float32()), "[[1, 2]]")}})
          ->CombineChunksToBatch()
          .ValueOrDie();
  const std::string path = folder / "part-0.parquet";
  CODEN_EXPECT_OK(WriteParquetFile(path, folder / "stage", *batch, options).status());
  const auto tables = Inspect(path).ValueOrDie();
  EXPECT_EQ(Fact(tables, "kind"), "snapshot");
  EXPECT_EQ(Fact(tables, "snapshot_time"), "2004");
  EXPECT_EQ(Fact(tables, "dim"), "2");
  EXPECT_EQ(Fact(tables, "run_id"), "abc");
  EXPECT_EQ(Fact(tables, "format_version"), "1");
  EXPECT_EQ(Rows(tables, "Settings other than the defaults"), (Lines{"run.seed|7"}));
}

TEST(Inspect, RefusesWhatItDoesNotKnow) {
  TempDir folder;
  const std::string rule =
      "there is nothing to inspect; give a Parquet file or a folder of them, a run "
      "directory or a model folder: '";
  ExpectInputError(Inspect(folder.path()), rule + folder.path() + "'");
  const std::string text = folder.Write("notes.txt", "hello");
  ExpectInputError(Inspect(text), rule + text + "'");
  ExpectInputError(Inspect(folder / "none"),
                   "no such file or directory: '" + (folder / "none") + "'");
  const std::string damaged = folder.Write("a.parquet", "PAR1 and then nothing");
  ExpectInputErrorWith(Inspect(damaged), "cannot read '" + damaged + "': ");
}

class InspectRunTest : public ::testing::Test {
 protected:
  // A run of one snapshot with metrics, committed as the pipeline does it.
  void SetUp() override {
    PartRecord embed;
    embed.name = "embed";
    embed.fingerprint = "f00";
    embed.parameters = "input.src = src\nembed.alpha = 0.2\n";
    embed.notes = {"3 self loops"};
    const Schedule schedule = {{0, 0, false, 5, 10, 4, 3, 0.1},
                               {1, 1, true, 9, 20, 6, 8, 0.1},
                               {2, 2, true, 12, 25, 7, 9, 0.1}};
    Write(RunLayout::kSchedule, *ScheduleToBatch(schedule).ValueOrDie(), &embed);
    const auto rows = TableOf({{"node", ArrayOf(arrow::int64(), "[1, 2]")}});
    Write(RunLayout::Snapshot(0), *rows->CombineChunksToBatch().ValueOrDie(), &embed);
    PartRecord train;
    train.name = "train";
    train.fingerprint = "f01";
    train.parameters = "input.label_time = \ntrain.gate = channel\ntrain.hidden = 16\n";
    const auto metrics =
        sample_run::Metrics({{0, 1, 0.5, 0.4, 0.4}, {0, 2, 0.7, 0.4, 0.4}});
    Write(RunLayout::kMetrics, *metrics->CombineChunksToBatch().ValueOrDie(), &train);
    CODEN_EXPECT_OK(Commit(*store_, {0, {embed, train}}, &manifest_));
  }
  void Write(std::string_view name, const arrow::RecordBatch& batch, PartRecord* part) {
    part->files.push_back(StageParquetFile(*store_, name, batch).ValueOrDie());
  }

  TempDir folder_;
  const std::string directory_ = folder_ / "run";
  std::shared_ptr<RunStore> store_ = StoreAt(directory_);
  Manifest manifest_;
};

TEST_F(InspectRunTest, SumsUpARun) {
  const auto tables = Inspect(directory_).ValueOrDie();
  EXPECT_EQ(Fact(tables, "commits"), "1");
  EXPECT_EQ(Fact(tables, "files"), "3");
  EXPECT_EQ(Fact(tables, "prediction_times"), "2");
  EXPECT_EQ(Fact(tables, "snapshots"), "3");
  EXPECT_EQ(Fact(tables, "last_snapshot_time"), "12");
  EXPECT_EQ(Fact(tables, "events"), "25");
  EXPECT_EQ(Fact(tables, "nodes"), "7");
  EXPECT_EQ(Fact(tables, "edges"), "9");
  EXPECT_EQ(Fact(tables, "micro_f1"), "60.00");
  EXPECT_EQ(Rows(tables, "Parts").size(), 2u);
  EXPECT_TRUE(Rows(tables, "Parts")[0].starts_with("embed|2|"));
  EXPECT_EQ(Rows(tables, "Notes"), Lines{"embed|3 self loops"});
  EXPECT_EQ(Rows(tables, "Settings other than the defaults"), (Lines{"train.hidden|16"}));
}

TEST_F(InspectRunTest, ListsEarlierTrainings) {
  PartRecord kept;
  kept.name = "coden-1";
  const auto metrics = sample_run::Metrics({{0, 1, 0.25, 0.4, 0.4}});
  Write(RunLayout::OfTraining("coden-1", RunLayout::kMetrics),
        *metrics->CombineChunksToBatch().ValueOrDie(), &kept);
  Manifest next = manifest_;
  next.trainings.push_back(kept);
  CODEN_EXPECT_OK(Commit(*store_, next, &manifest_));
  auto tables = Inspect(directory_).ValueOrDie();
  const std::string bytes = std::to_string(manifest_.trainings[0].files[0].size);
  EXPECT_EQ(Rows(tables, "Earlier trainings"), Lines{"coden-1|1|" + bytes + "|25.00|"});
  EXPECT_EQ(Fact(tables, "micro_f1"), "60.00");
  EXPECT_EQ(Rows(tables, "Parts").size(), 2u);
  // The user has deleted it.
  CODEN_EXPECT_OK(store_->Remove("trainings/coden-1/metrics.parquet"));
  tables = Inspect(directory_).ValueOrDie();
  EXPECT_EQ(Rows(tables, "Earlier trainings"), Lines{"coden-1|1|" + bytes + "||"});
}

TEST_F(InspectRunTest, FindsDamage) {
  const std::string snapshot = store_->LocalPath(RunLayout::Snapshot(0));
  std::filesystem::resize_file(snapshot, std::filesystem::file_size(snapshot) - 3);
  ExpectCorruption(
      Inspect(directory_).status(),
      "a file of the run has another size than was written: '" + snapshot + "'");
  ExpectCorruption(Inspect(snapshot).status(), "cannot read '" + snapshot + "'");
  std::filesystem::remove(snapshot);
  ExpectCorruption(Inspect(directory_).status(),
                   "a file of the run is missing: '" + snapshot + "'");
  std::ofstream(store_->LocalPath("_coden/manifest-000001.json")) << "{\"parts\": 3";
  ExpectCorruption(Inspect(directory_).status(), "manifest-000001.json' is damaged");
}

TEST_F(InspectRunTest, SaysWhenNothingIsCommitted) {
  std::filesystem::remove(store_->LocalPath("_coden/manifest-000001.json"));
  ExpectInputError(Inspect(directory_), "there is no run in '" + directory_ +
                                            "'; make it with `coden run` first");
}

TEST(InspectModel, ListsConfigurationAndTensors) {
  TempDir folder;
  folder.Write("model/config.json",
               R"({"model": "coden", "hidden": 16, "classes": [1, 2, 3], "f1": 0.5,
                   "deep": [[1], {}], "names": [")" +
                   std::string(200, 'a') + "\"]}");
  const std::string weights = folder.Write(
      "model/model.safetensors", Safetensors(R"({"__metadata__": {"format": "pt"},
                      "b": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
                      "a": {"dtype": "F32", "shape": [], "data_offsets": [24, 28]}})",
                                             28));
  const auto tables = Inspect(folder / "model").ValueOrDie();
  EXPECT_EQ(Fact(tables, "model"), "coden");
  EXPECT_EQ(Fact(tables, "hidden"), "16");
  EXPECT_EQ(Fact(tables, "classes"), "[1,2,3]");
  EXPECT_EQ(Fact(tables, "deep"), "[...]");
  EXPECT_EQ(Fact(tables, "names"), "[\"" + std::string(95, 'a') + "...");
  const Lines tensors = {"b|F32|2 x 3|6|24", "a|F32|scalar|1|4"};
  EXPECT_EQ(Rows(tables, "Tensors"), tensors);
  EXPECT_EQ(Rows(Inspect(weights).ValueOrDie(), "Tensors"), tensors);
}

TEST(InspectModel, TrustsNoLengthOfTheHeader) {
  TempDir folder;
  const auto inspect = [&](const std::string& bytes) {
    return Inspect(folder.Write("a.safetensors", bytes)).status();
  };
  const auto tensor = [&](const std::string& entry) {
    return inspect(Safetensors("{\"w\": " + entry + "}", 8));
  };
  ExpectCorruption(inspect(""), "it is too short");
  ExpectCorruption(inspect(std::string(8, '\xff')), "its header is longer than the file");
  ExpectCorruption(inspect(std::string("\x09\0\0\0\0\0\0\0{}", 10)),
                   "its header is longer than the file: 9 bytes");
  ExpectCorruption(inspect(Safetensors("[1, 2]", 0)), "its header is no JSON object");
  ExpectCorruption(inspect(Safetensors(std::string(100000, '['), 0)),
                   "its header is no JSON object");
  ExpectCorruption(tensor("3"), "tensor 'w' has no dtype, shape and data_offsets");
  ExpectCorruption(tensor(R"({"dtype": "F33", "shape": [2], "data_offsets": [0, 8]})"),
                   "has a dtype that the format does not know");
  for (const std::string offsets :
       {"[0, 9]", "[8, 0]", "[-1, 8]", "[0, 1e3]", "[0, 18446744073709551615]"}) {
    SCOPED_TRACE(offsets);
    ExpectCorruption(
        tensor(R"({"dtype": "F32", "shape": [2], "data_offsets": )" + offsets + "}"),
        "lies outside the file");
  }
  for (const std::string shape :
       {"[-2]", "[4294967296, 4294967296]", "[2.0]", "[18446744073709551615]"}) {
    SCOPED_TRACE(shape);
    ExpectCorruption(
        tensor(R"({"dtype": "F32", "data_offsets": [0, 8], "shape": )" + shape + "}"),
        "has a shape that does not fit the file");
  }
  for (const std::string shape : {"[3]", "[]", "[0]"}) {
    SCOPED_TRACE(shape);
    ExpectCorruption(
        tensor(R"({"dtype": "F32", "data_offsets": [0, 8], "shape": )" + shape + "}"),
        "has a shape that does not fit its bytes");
  }
}

TEST(InspectModel, FindsDamage) {
  TempDir folder;
  folder.Write("model.safetensors", Safetensors("{}", 0));
  ExpectCorruption(Inspect(folder.path()).status(), "the model has no '");
  folder.Write("config.json", "{");
  ExpectCorruption(Inspect(folder.path()).status(), "it is no JSON object");
}

}  // namespace
}  // namespace coden
