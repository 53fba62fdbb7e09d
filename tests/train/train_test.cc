#include "coden/train/train.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include <arrow/array.h>
#include <arrow/table.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "coden/train/train_files.h"
#include "train/run_fixture.h"

namespace coden {
namespace {

std::string FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

class TrainTest : public RunFixture {
 protected:
  arrow::Result<TrainSummary> RunTrain() {
    SilentProgress progress;
    ARROW_ASSIGN_OR_RAISE(auto summary, Train(settings_, *store_, {}, {&progress}));
    for (const FileRecord& file : summary.files) Move(file);
    return summary;
  }

  std::shared_ptr<arrow::RecordBatch> ReadBack(const char* name) const {
    return ReadParquetFile(directory_ + "/" + name)
        .ValueOrDie()
        ->CombineChunksToBatch()
        .ValueOrDie();
  }

  void CheckFails(Fault fault, const std::string& message) {
    Write();
    const arrow::Status status = RunTrain().status();
    EXPECT_EQ(status.message(), message);
    EXPECT_EQ(FaultOf(status), fault);
  }
};

using Errors = TrainTest;

template <typename ArrayType>
auto At(const arrow::RecordBatch& batch, const char* column, std::int64_t row) {
  return static_cast<const ArrayType&>(*batch.GetColumnByName(column)).GetView(row);
}

TEST_F(TrainTest, LearnsAndWritesEveryFile) {
  settings_.train.runs = 2;
  label_nodes_.push_back(1);  // in no snapshot
  label_values_.push_back(100);
  Write();
  const TrainSummary summary = RunTrain().ValueOrDie();
  EXPECT_EQ(summary.num_labelled, kNumNodes);
  EXPECT_EQ(summary.num_unknown, 1);
  EXPECT_EQ(summary.num_predictions, 2);
  EXPECT_GT(summary.micro_f1_average, 0.7);

  const auto metrics = ReadBack("metrics.parquet");
  EXPECT_TRUE(metrics->schema()->Equals(*MetricsSchema()));
  ASSERT_EQ(metrics->num_rows(), 4);
  double sum = 0.0;
  for (std::int64_t row = 0; row < 4; ++row) {
    EXPECT_EQ(At<arrow::Int32Array>(*metrics, "run", row), row / 2);
    EXPECT_EQ(At<arrow::Int32Array>(*metrics, "prediction", row), 1 + row % 2);
    EXPECT_EQ(At<arrow::Int64Array>(*metrics, "time", row), 10 + 10 * (row % 2));
    sum += At<arrow::DoubleArray>(*metrics, "micro_f1", row);
  }
  EXPECT_DOUBLE_EQ(summary.micro_f1_average, sum / 4);

  const auto predictions = ReadBack("predictions.parquet");
  EXPECT_TRUE(
      predictions->schema()->Equals(*PredictionsSchema(arrow::int64(), arrow::int64())));
  ASSERT_EQ(predictions->num_rows(), 2 * 2 * kNumNodes);
  std::int64_t num_right = 0, num_test = 0;
  for (std::int64_t row = 0; row < predictions->num_rows(); ++row) {
    const auto node = static_cast<int>(row % kNumNodes);
    const std::int64_t time = At<arrow::Int64Array>(*predictions, "time", row);
    const std::int64_t label = At<arrow::Int64Array>(*predictions, "label", row);
    const bool present = At<arrow::BooleanArray>(*predictions, "present", row);
    EXPECT_EQ(At<arrow::Int64Array>(*predictions, "node", row), Id(node));
    EXPECT_EQ(label, 100 + node % 3);
    EXPECT_EQ(present, node > 0 && node % 15 <= time);
    const double probability = At<arrow::DoubleArray>(*predictions, "probability", row);
    EXPECT_GE(probability, 1.0 / 3.0 - 1e-6);
    EXPECT_LE(probability, 1.0 + 1e-6);
    const auto split = At<arrow::StringArray>(*predictions, "split", row);
    EXPECT_TRUE(split == "train" || split == "validate" || split == "test");
    if (row >= kNumNodes || split != "test" || !present) continue;
    ++num_test;
    num_right += At<arrow::Int64Array>(*predictions, "predicted", row) == label;
  }
  // Two roads to the first row of the metrics.
  EXPECT_EQ(At<arrow::Int64Array>(*metrics, "test_nodes", 0), num_test);
  EXPECT_DOUBLE_EQ(At<arrow::DoubleArray>(*metrics, "micro_f1", 0),
                   static_cast<double>(num_right) / static_cast<double>(num_test));
}

TEST_F(TrainTest, WritesOneLinePerEpochThenOnePerPredictionTime) {
  settings_.train.runs = 2;
  settings_.train.epochs = 3;
  settings_.train.protocol = Protocol::kShared;  // one lesson
  Write();
  ASSERT_TRUE(RunTrain().ok());
  std::ifstream log(directory_ + "/metrics.jsonl");
  std::string line;
  int num_lines = 0;
  int num_predictions = 0;
  while (std::getline(log, line)) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("prediction")) {
      EXPECT_GT(json.at("majority_micro_f1").get<double>(), 0.0);
      ++num_predictions;
      continue;
    }
    EXPECT_EQ(json.at("run"), num_lines / 3);
    EXPECT_EQ(json.at("epoch"), 1 + num_lines % 3);
    EXPECT_GT(json.at("loss").get<double>(), 0.0);
    EXPECT_LE(json.at("validate_micro_f1").get<double>(), 1.0);
    EXPECT_GE(json.at("seconds").get<double>(), 0.0);
    ++num_lines;
  }
  EXPECT_EQ(num_lines, 6);
  EXPECT_GT(num_predictions, 0);
}

TEST_F(TrainTest, WritesTheModelAsSafetensors) {
  Write();
  ASSERT_TRUE(RunTrain().ok());
  const std::string bytes = FileBytes(directory_ + "/model/model.safetensors");
  std::uint64_t header_size = 0;
  ASSERT_GT(bytes.size(), sizeof(header_size));
  std::memcpy(&header_size, bytes.data(), sizeof(header_size));
  EXPECT_EQ(header_size % 8, 0u);
  const auto header = nlohmann::json::parse(bytes.substr(8, header_size));
  EXPECT_EQ(header.at("temporal.skip").at("dtype"), "F32");
  EXPECT_EQ(header.at("temporal.log_rate").at("shape"), nlohmann::json({4, 2}));
  std::size_t end = 0;
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    std::size_t size = sizeof(float);
    for (const std::size_t dimension : tensor.at("shape")) size *= dimension;
    const std::size_t from = tensor.at("data_offsets")[0];
    const std::size_t to = tensor.at("data_offsets")[1];
    EXPECT_EQ(to - from, size) << name;
    end = std::max(end, to);
  }
  EXPECT_EQ(bytes.size(), 8 + header_size + end);

  const auto config = nlohmann::json::parse(FileBytes(directory_ + "/model/config.json"));
  EXPECT_EQ(config.at("model"), "coden");
  EXPECT_EQ(config.at("channels"), 4);
  EXPECT_EQ(config.at("classes"), nlohmann::json({100, 101, 102}));
}

TEST_F(TrainTest, SameSeedSameFiles) {
  Write();
  const auto train_twice = [&](std::uint64_t second_seed) {
    settings_.run.seed = 5;
    EXPECT_TRUE(RunTrain().ok());
    std::vector<std::string> first, second;
    for (auto* files : {&first, &second}) {
      for (const char* name :
           {"metrics.parquet", "predictions.parquet", "model/model.safetensors"}) {
        files->push_back(FileBytes(directory_ + "/" + name));
      }
      settings_.run.seed = second_seed;
      EXPECT_TRUE(RunTrain().ok());
    }
    return first == second;
  };
  EXPECT_TRUE(train_twice(5));
  EXPECT_FALSE(train_twice(6));
}

TEST_F(TrainTest, EveryLayoutGivesTheSameModel) {
  std::string expected;
  for (const auto layout :
       {SnapshotLayout::kList, SnapshotLayout::kFixed, SnapshotLayout::kColumns}) {
    SCOPED_TRACE(static_cast<int>(layout));
    settings_.snapshot.layout = layout;
    Write();
    ASSERT_TRUE(RunTrain().ok());
    const std::string model = FileBytes(directory_ + "/model/model.safetensors");
    if (expected.empty()) expected = model;
    EXPECT_EQ(model, expected);
  }
}

// The scale of an embedding carries no information; lengths of rows must not matter.
TEST_F(TrainTest, ReadsRowsScaledToLengthOne) {
  Write();
  ASSERT_TRUE(RunTrain().ok());
  const std::string expected = FileBytes(directory_ + "/metrics.parquet");
  change_rows_ = [](int, std::vector<std::vector<float>>& rows) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (float& value : rows[row]) value *= row % 2 == 0 ? 1024.0f : 0.125f;
    }
  };
  Write();
  ASSERT_TRUE(RunTrain().ok());
  EXPECT_EQ(FileBytes(directory_ + "/metrics.parquet"), expected);
}

TEST_F(TrainTest, CodenSReadsOnlyTheSnapshotsOfPredictionTimes) {
  settings_.train.model = ModelKind::kCodenS;
  Write();
  ASSERT_TRUE(RunTrain().ok());
  const std::string expected = FileBytes(directory_ + "/metrics.parquet");
  std::filesystem::remove(directory_ + "/" + RunLayout::Snapshot(0));
  std::filesystem::remove(directory_ + "/" + RunLayout::Snapshot(2));
  ASSERT_TRUE(RunTrain().ok());
  EXPECT_EQ(FileBytes(directory_ + "/metrics.parquet"), expected);
  settings_.train.model = ModelKind::kCoden;
  EXPECT_EQ(FaultOf(RunTrain().status()), Fault::kCorruption);
}

TEST_F(TrainTest, SnapshotsAfterTheLastPredictionAreNotRead) {
  schedule_.push_back({4, 3, false, 30, 60, kNumNodes, 50, 0.1});
  Write();
  std::filesystem::remove(directory_ + "/" + RunLayout::Snapshot(4));
  EXPECT_TRUE(RunTrain().ok());
}

TEST_F(TrainTest, NodesThatComeLateAndStringIdsAreFine) {
  first_missing_ = 60;
  string_ids_ = true;
  Write();
  EXPECT_EQ(RunTrain().ValueOrDie().num_labelled, kNumNodes);
  EXPECT_EQ(At<arrow::StringArray>(*ReadBack("predictions.parquet"), "node", 3),
            "node 1021");
}

TEST_F(TrainTest, LabelsCountFromTheirTimeOn) {
  label_times_.assign(kNumNodes, 0);
  for (int node = 0; node < kNumNodes; node += 2) label_times_[node] = 11;
  Write();
  ASSERT_TRUE(RunTrain().ok());
  const auto predictions = ReadBack("predictions.parquet");
  EXPECT_EQ(predictions->num_rows(), kNumNodes / 2 + kNumNodes);
  EXPECT_EQ(At<arrow::Int64Array>(*predictions, "node", 0), Id(1));
}

TEST_F(TrainTest, AStoppedRunLeavesTheOldFiles) {
  Write();
  ASSERT_TRUE(RunTrain().ok());
  const std::string expected = FileBytes(directory_ + "/predictions.parquet");
  settings_.run.seed = 77;
  arrow::StopSource source;
  source.RequestStop();
  SilentProgress progress;
  EXPECT_TRUE(
      Train(settings_, *store_, {}, {&progress, source.token()}).status().IsCancelled());
  EXPECT_EQ(FileBytes(directory_ + "/predictions.parquet"), expected);
  EXPECT_TRUE(store_->List(RunLayout::kStage).ValueOrDie().empty());
}

TEST_F(Errors, NoSnapshotsYet) {
  WriteLabels();
  const arrow::Status status = RunTrain().status();
  EXPECT_EQ(status.message(),
            "`run.directory` holds no snapshots yet: run `coden embed` first: '" +
                directory_ + "'");
  EXPECT_EQ(FaultOf(status), Fault::kUsage);
}

TEST_F(Errors, NoPredictionTime) {
  for (SchedulePoint& point : schedule_) point.at_prediction = false;
  CheckFails(Fault::kInput,
             "the run has no prediction time: nothing to train on: '" + directory_ + "'");
}

TEST_F(Errors, NoLabelledNode) {
  for (std::int64_t& node : label_nodes_) node = -node;
  CheckFails(Fault::kInput,
             "no labelled node is in the snapshots: check that `input.labels` and "
             "`input.edges` name the same nodes: 120 labels");
}

TEST_F(Errors, NoLabelAtAPredictionTime) {
  label_times_.assign(kNumNodes, 21);
  CheckFails(Fault::kInput, "no label is valid at a prediction time: the last one is 20");
}

TEST_F(Errors, OneClass) {
  label_values_.assign(kNumNodes, 100);
  CheckFails(Fault::kInput,
             "training needs two classes or more: all labels of nodes in the snapshots "
             "are of one");
}

TEST_F(Errors, EmptyPart) {
  settings_.train.split = {0.8, 0.0, 0.2};
  CheckFails(
      Fault::kUsage,
      "`train.split` leaves no node to validate on: raise that share, take another "
      "`run.seed`, or name the parts in `input.split`: there are 120 labelled nodes "
      "in the snapshots");
}

TEST_F(Errors, PartWithoutEvents) {
  no_events_ = true;
  CheckFails(Fault::kInput,
             "no node to train on has a label and an event by a prediction time: label "
             "more nodes or change `train.split`: 78 nodes");
}

TEST_F(Errors, IdsOfTwoTypes) {
  label_id_type_ = arrow::utf8();
  CheckFails(Fault::kInput,
             "the labels and the edge log must name nodes by one type: the labels have "
             "string, the log int64");
}

TEST_F(Errors, OverTheMemoryLimit) {
  settings_.run.memory_limit = 10'000;
  Write();
  const arrow::Status status = RunTrain().status();
  EXPECT_EQ(FaultOf(status), Fault::kResources);
  EXPECT_TRUE(status.message().starts_with("training needs about "));
  EXPECT_TRUE(status.message().ends_with(
      " MB of memory even with its histories on disk; raise `run.memory_limit`, or lower "
      "`train.batch`, `train.hidden` or `run.threads`: the limit is 0 MB"))
      << status.message();
}

TEST_F(Errors, NonFiniteEmbedding) {
  change_rows_ = [](int snapshot, std::vector<std::vector<float>>& rows) {
    if (snapshot == 2) rows[3][1] = NAN;
  };
  CheckFails(Fault::kCorruption, "an embedding is not finite: node 1021, snapshot 2");
}

TEST_F(Errors, EmbeddingsOfTwoLengths) {
  change_rows_ = [](int snapshot, std::vector<std::vector<float>>& rows) {
    if (snapshot == 2) rows[3].pop_back();
  };
  CheckFails(Fault::kCorruption,
             "'" + directory_ + "/" + RunLayout::Snapshot(2) +
                 "', column 'embedding': every row must have 4 numbers, row 3 has 3");
}

TEST_F(Errors, SnapshotsOfTwoLengths) {
  change_rows_ = [](int snapshot, std::vector<std::vector<float>>& rows) {
    if (snapshot != 2) return;
    for (auto& row : rows) row.pop_back();
  };
  CheckFails(Fault::kCorruption,
             "all snapshots must have embeddings of one length: 4 and, in '" +
                 directory_ + "/" + RunLayout::Snapshot(2) + "', 3");
}

}  // namespace
}  // namespace coden
