#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <arrow/builder.h>
#include <arrow/table.h>
#include <gtest/gtest.h>

#include "coden/report/html_report.h"

// A made-up run in memory: yearly prediction times 2001, 2002, ... with a schedule,
// metrics and an epoch log of the shapes that real runs have.

namespace coden::sample_run {

template <typename Builder, typename Values>
std::shared_ptr<arrow::Array> ArrayOf(const Values& values) {
  Builder builder;
  for (const auto& value : values) EXPECT_TRUE(builder.Append(value).ok());
  std::shared_ptr<arrow::Array> array;
  EXPECT_TRUE(builder.Finish(&array).ok());
  return array;
}

struct MetricsRow {
  int run;
  int prediction;
  double micro_f1;
  double macro_f1;
  double micro_f1_all;
};

inline std::shared_ptr<arrow::Table> Metrics(const std::vector<MetricsRow>& rows) {
  std::vector<std::int32_t> run, prediction;
  std::vector<std::int64_t> time, test_nodes, absent_nodes;
  std::vector<double> micro, all, macro, validate, loss, majority, propagation;
  for (const auto& row : rows) {
    run.push_back(row.run);
    prediction.push_back(row.prediction);
    time.push_back(2000 + row.prediction);
    test_nodes.push_back(500 * row.prediction);
    absent_nodes.push_back(10);
    micro.push_back(row.micro_f1);
    all.push_back(row.micro_f1_all);
    macro.push_back(row.macro_f1);
    validate.push_back(row.micro_f1);
    loss.push_back(1.0 - row.micro_f1);
    majority.push_back(0.3);
    propagation.push_back(row.micro_f1 - 0.1);
  }
  const auto schema = arrow::schema(
      {arrow::field("run", arrow::int32()), arrow::field("prediction", arrow::int32()),
       arrow::field("time", arrow::int64()), arrow::field("test_nodes", arrow::int64()),
       arrow::field("absent_nodes", arrow::int64()),
       arrow::field("micro_f1", arrow::float64()),
       arrow::field("micro_f1_all", arrow::float64()),
       arrow::field("macro_f1", arrow::float64()),
       arrow::field("validate_micro_f1", arrow::float64()),
       arrow::field("loss", arrow::float64()),
       arrow::field("majority_micro_f1", arrow::float64()),
       arrow::field("propagation_micro_f1", arrow::float64()),
       arrow::field("last_label_micro_f1", arrow::float64())});
  return arrow::Table::Make(
      schema,
      {ArrayOf<arrow::Int32Builder>(run), ArrayOf<arrow::Int32Builder>(prediction),
       ArrayOf<arrow::Int64Builder>(time), ArrayOf<arrow::Int64Builder>(test_nodes),
       ArrayOf<arrow::Int64Builder>(absent_nodes), ArrayOf<arrow::DoubleBuilder>(micro),
       ArrayOf<arrow::DoubleBuilder>(all), ArrayOf<arrow::DoubleBuilder>(macro),
       ArrayOf<arrow::DoubleBuilder>(validate), ArrayOf<arrow::DoubleBuilder>(loss),
       ArrayOf<arrow::DoubleBuilder>(majority),
       ArrayOf<arrow::DoubleBuilder>(propagation),
       arrow::MakeArrayOfNull(arrow::float64(), static_cast<std::int64_t>(run.size()))
           .ValueOrDie()});
}

inline std::shared_ptr<arrow::Table> Metrics(int num_runs, int num_predictions) {
  std::vector<MetricsRow> rows;
  for (int run = 0; run < num_runs; ++run) {
    for (int k = 1; k <= num_predictions; ++k) {
      const double micro = 0.76 - 0.06 / k + 0.008 * std::sin(1.7 * k) + 0.003 * run;
      rows.push_back({run, k, micro, micro - 0.04, micro - 0.12 / k});
    }
  }
  return Metrics(rows);
}

/// `num_between` snapshots pass lambda = 0.1 in every interval, which then closes.
inline std::shared_ptr<arrow::Table> ScheduleTable(int num_predictions, int num_between) {
  std::vector<std::int32_t> snapshot, prediction;
  std::vector<bool> at_prediction;
  std::vector<std::int64_t> time, events, num_nodes, num_edges;
  std::vector<double> sigma, error_bound;
  const auto add = [&](int k, bool closes, double shift) {
    const auto i = static_cast<std::int32_t>(snapshot.size());
    snapshot.push_back(i);
    prediction.push_back(k);
    at_prediction.push_back(closes);
    time.push_back(2000 + k);
    events.push_back(2000 + 1200 * i);
    num_nodes.push_back(1500 + 140 * i);
    num_edges.push_back(1990 + 1180 * i + i * i);
    sigma.push_back(shift);
    error_bound.push_back(6e-8 + 1e-9 * (i % 9));
  };
  add(0, false, 0.0);
  for (int k = 1; k <= num_predictions; ++k) {
    for (int i = 0; i < num_between + k % 4; ++i)
      add(k, false, 0.1 + 0.0003 * (i + k % 5));
    add(k, true, 0.02 + 0.01 * (k % 7));
  }
  const auto schema = arrow::schema(
      {arrow::field("snapshot", arrow::int32()),
       arrow::field("prediction", arrow::int32()),
       arrow::field("at_prediction", arrow::boolean()),
       arrow::field("time", arrow::int64()), arrow::field("events", arrow::int64()),
       arrow::field("num_nodes", arrow::int64()),
       arrow::field("num_edges", arrow::int64()), arrow::field("sigma", arrow::float64()),
       arrow::field("error_bound", arrow::float64())});
  return arrow::Table::Make(
      schema,
      {ArrayOf<arrow::Int32Builder>(snapshot), ArrayOf<arrow::Int32Builder>(prediction),
       ArrayOf<arrow::BooleanBuilder>(at_prediction), ArrayOf<arrow::Int64Builder>(time),
       ArrayOf<arrow::Int64Builder>(events), ArrayOf<arrow::Int64Builder>(num_nodes),
       ArrayOf<arrow::Int64Builder>(num_edges), ArrayOf<arrow::DoubleBuilder>(sigma),
       ArrayOf<arrow::DoubleBuilder>(error_bound)});
}

struct PredictionRow {
  std::string label;
  std::string predicted;
  std::string split = "test";
  bool present = true;
};

/// The columns that the report reads, with labels that are strings.
inline std::shared_ptr<arrow::Table> Predictions(const std::vector<PredictionRow>& rows) {
  std::vector<std::string> labels, predicted, splits;
  std::vector<bool> present;
  for (const auto& row : rows) {
    labels.push_back(row.label);
    predicted.push_back(row.predicted);
    splits.push_back(row.split);
    present.push_back(row.present);
  }
  const auto schema = arrow::schema(
      {arrow::field("label", arrow::utf8()), arrow::field("predicted", arrow::utf8()),
       arrow::field("split", arrow::utf8()), arrow::field("present", arrow::boolean())});
  return arrow::Table::Make(
      schema,
      {ArrayOf<arrow::StringBuilder>(labels), ArrayOf<arrow::StringBuilder>(predicted),
       ArrayOf<arrow::StringBuilder>(splits), ArrayOf<arrow::BooleanBuilder>(present)});
}

inline std::shared_ptr<arrow::Table> Work(int num_snapshots) {
  std::vector<std::int32_t> snapshot;
  std::vector<double> seconds;
  std::vector<std::int64_t> counts;
  for (int i = 0; i < num_snapshots; ++i) {
    snapshot.push_back(i);
    seconds.push_back(0.01 * (1 + i % 5));
    counts.push_back(1000 + 10 * i);
  }
  std::vector<std::shared_ptr<arrow::Field>> fields = {
      arrow::field("snapshot", arrow::int32()),
      arrow::field("seconds", arrow::float64())};
  std::vector<std::shared_ptr<arrow::Array>> columns = {
      ArrayOf<arrow::Int32Builder>(snapshot), ArrayOf<arrow::DoubleBuilder>(seconds)};
  for (const char* name :
       {"sweeps", "proving_sweeps", "swept_arcs", "pushes", "pushed_arcs"}) {
    fields.push_back(arrow::field(name, arrow::int64()));
    columns.push_back(ArrayOf<arrow::Int64Builder>(counts));
  }
  return arrow::Table::Make(arrow::schema(fields), columns);
}

inline std::vector<IniSection> Sections(const std::string& ini) {
  return ParseIni(ini, "settings.ini").ValueOrDie();
}

inline ReportInputs Report() {
  ReportInputs inputs;
  inputs.title = "citations by year";
  inputs.settings = Sections(
      "[run]\ndirectory = out/citations\nseed = 7\nthreads = 0\n\n"
      "[input]\nedges = data/citations/edges.parquet\nfeatures = \nlabels = l.parquet\n\n"
      "[sample]\nbound = relative\nlambda = 0.1\nmax_per_interval = 0\n\n"
      "[embed]\nalpha = 0.2\nepsilon = 1e-07\npropagation = mass\n\n"
      "[train]\nmodel = coden\ninputs = embedding\naverages = 0.5\nlabel_columns = 4\n"
      "protocol = each\nsplit = 0.7/0.1/0.2\nsplit_by = time\nruns = 3\n");
  inputs.stages = {{"read", "236,894 rows", "236,894 events", 0.31, 41'000'000},
                   {"partition", "236,894 events", "26 batches", 0.02},
                   {"sample", "26 batches", "147 snapshots", 0.14},
                   {"embed", "147 snapshots, 128 columns", "4.1 M embeddings", 48.2},
                   {"snapshot", "147 states", "147 files, 1.9 GB", 12.6},
                   {"train", "26 prediction times", "3 runs of 100 epochs", 431.0},
                   {"report", "metrics", "1 page", 0.01}};
  inputs.notes = {"112 self loops were dropped.",
                  "9,217 nodes have no feature row and start at zero."};
  inputs.inputs = {{"edges", "data/citations/edges.parquet, 236,894 rows, 3.1 MB"},
                   {"labels", "l.parquet, 28,085 rows"}};
  inputs.versions = {{"coden", "0.1.0"}, {"Arrow", "26.0.1"}, {"LibTorch", "2.13.0"}};
  inputs.schedule = ScheduleTable(/*num_predictions=*/26, /*num_between=*/3);
  inputs.metrics = Metrics(/*num_runs=*/3, /*num_predictions=*/26);
  inputs.predictions = [](const ReportInputs::TableVisitor& visit) {
    return visit(*Predictions({{"a", "a"}, {"a", "b"}, {"b", "b"}}));
  };
  inputs.work = Work(/*num_snapshots=*/147);
  for (int epoch = 1; epoch <= 100; ++epoch) {
    const double loss = 0.7 + 1.6 * std::exp(-0.06 * epoch);
    inputs.epoch_lines.push_back(
        "{\"run\": 0, \"epoch\": " + std::to_string(epoch) +
        ", \"loss\": " + std::to_string(loss) + ", \"validate_micro_f1\": " +
        std::to_string(0.77 - 0.25 * std::exp(-0.08 * epoch)) + "}");
  }
  return inputs;
}

}  // namespace coden::sample_run
