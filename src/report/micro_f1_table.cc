#include "coden/report/micro_f1_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <arrow/table.h>

#include "base/table_column_internal.h"
#include "report/micro_f1_internal.h"
#include "report/training_facts_internal.h"

namespace coden {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Mean and deviation of the finite values that were added.
class Moments {
 public:
  void Add(double value) {
    if (std::isfinite(value)) values_.push_back(value);
  }
  double mean() const {
    if (values_.empty()) return kNone;
    double sum = 0.0;
    for (const double value : values_) sum += value;
    return sum / static_cast<double>(values_.size());
  }
  double deviation() const {
    if (values_.size() < 2) return kNone;
    double squares = 0.0;
    for (const double value : values_) squares += (value - mean()) * (value - mean());
    return std::sqrt(squares / static_cast<double>(values_.size() - 1));
  }

 private:
  std::vector<double> values_;
};

// What is averaged over runs (one prediction time) or over times (the footer).
struct ScoreMoments {
  Moments test_nodes, micro_f1, macro_f1, micro_f1_all, majority, propagation, last_label;

  void Add(const PredictionScore& score) {
    test_nodes.Add(static_cast<double>(score.test_nodes));
    micro_f1.Add(score.micro_f1);
    macro_f1.Add(score.macro_f1);
    micro_f1_all.Add(score.micro_f1_all);
    majority.Add(score.majority);
    propagation.Add(score.propagation);
    last_label.Add(score.last_label);
  }
  PredictionScore Means() const {
    PredictionScore score;
    const double num_nodes = test_nodes.mean();
    score.test_nodes = std::isfinite(num_nodes) ? std::llround(num_nodes) : 0;
    score.micro_f1 = micro_f1.mean();
    score.micro_f1_deviation = micro_f1.deviation();
    score.macro_f1 = macro_f1.mean();
    score.micro_f1_all = micro_f1_all.mean();
    score.majority = majority.mean();
    score.propagation = propagation.mean();
    score.last_label = last_label.mean();
    return score;
  }
};

struct TimeScores {
  std::int64_t time = 0;
  ScoreMoments moments;
};

void FindLast(MicroF1Summary& summary) {
  for (std::size_t i = 0; i < summary.scores.size(); ++i)
    if (std::isfinite(summary.scores[i].micro_f1)) summary.last = i;
}

void FindBestControl(MicroF1Summary& summary) {
  for (const BestControl& control :
       {BestControl{"majority", &PredictionScore::majority},
        BestControl{"label propagation", &PredictionScore::propagation},
        BestControl{"last label", &PredictionScore::last_label}}) {
    if (summary.control.score == nullptr ||
        summary.average.*control.score > summary.average.*summary.control.score) {
      summary.control = control;
    }
  }
}

}  // namespace

arrow::Result<MicroF1Summary> SummarizeMicroF1(const arrow::Table& metrics) {
  const std::string file = "metrics.parquet";
  ARROW_ASSIGN_OR_RAISE(const auto run, IntegerColumn(metrics, file, "run"));
  ARROW_ASSIGN_OR_RAISE(const auto prediction,
                        IntegerColumn(metrics, file, "prediction"));
  ARROW_ASSIGN_OR_RAISE(const auto time, IntegerColumn(metrics, file, "time"));
  ARROW_ASSIGN_OR_RAISE(const auto test_nodes,
                        IntegerColumn(metrics, file, "test_nodes"));
  ARROW_ASSIGN_OR_RAISE(const auto micro, RealColumn(metrics, file, "micro_f1"));
  ARROW_ASSIGN_OR_RAISE(const auto all, RealColumn(metrics, file, "micro_f1_all"));
  ARROW_ASSIGN_OR_RAISE(const auto macro, RealColumn(metrics, file, "macro_f1"));

  ARROW_ASSIGN_OR_RAISE(const auto majority,
                        RealColumn(metrics, file, "majority_micro_f1"));
  ARROW_ASSIGN_OR_RAISE(const auto propagation,
                        RealColumn(metrics, file, "propagation_micro_f1"));
  ARROW_ASSIGN_OR_RAISE(const auto last_label,
                        OptionalRealColumn(metrics, file, "last_label_micro_f1"));

  std::map<std::int64_t, TimeScores> by_prediction;
  std::map<std::int64_t, Moments> by_run;
  for (std::size_t row = 0; row < run.size(); ++row) {
    TimeScores& scores = by_prediction[prediction[row]];
    scores.time = time[row];
    PredictionScore score;
    score.test_nodes = test_nodes[row];
    score.micro_f1 = micro[row];
    score.macro_f1 = macro[row];
    score.micro_f1_all = all[row];
    score.majority = majority[row];
    score.propagation = propagation[row];
    score.last_label = last_label[row];
    scores.moments.Add(score);
    by_run[run[row]].Add(micro[row]);
  }

  MicroF1Summary summary;
  summary.num_runs = by_run.size();
  ScoreMoments over_times;
  for (const auto& [number, scores] : by_prediction) {
    PredictionScore score = scores.moments.Means();
    score.prediction = number;
    score.time = scores.time;
    over_times.Add(score);
    summary.scores.push_back(score);
  }
  Moments run_averages;
  for (const auto& [number, moments] : by_run) run_averages.Add(moments.mean());
  summary.average = over_times.Means();
  summary.average.micro_f1_deviation = run_averages.deviation();
  FindLast(summary);
  FindBestControl(summary);
  return summary;
}

ResultsTable MicroF1Table(const MicroF1Summary& summary, const std::string& facts) {
  const bool several_runs = summary.num_runs > 1;
  ResultsTable table;
  table.title = several_runs ? "Micro-F1 on test nodes, mean of " +
                                   std::to_string(summary.num_runs) + " runs"
                             : "Micro-F1 on test nodes";
  if (summary.last) table.title += "; gain over " + summary.control.name;
  if (!facts.empty()) table.title += "\n" + facts;
  const bool timed = std::isfinite(summary.average.last_label);
  table.columns = {{"prediction", "prediction", ColumnType::kInteger},
                   {"time", "time", ColumnType::kInteger},
                   {"test_nodes", "test nodes", ColumnType::kInteger},
                   {"micro_f1", "Micro-F1 %", ColumnType::kPercent}};
  if (several_runs) {
    table.columns.push_back({"micro_f1_deviation", "±", ColumnType::kPercent});
  }
  table.columns.push_back({"macro_f1", "Macro-F1 %", ColumnType::kPercent});
  table.columns.push_back({"micro_f1_all", "Micro-F1 all %", ColumnType::kPercent});
  table.columns.push_back({"majority_micro_f1", "majority %", ColumnType::kPercent});
  table.columns.push_back(
      {"propagation_micro_f1", "propagation %", ColumnType::kPercent});
  if (timed) {
    table.columns.push_back(
        {"last_label_micro_f1", "last label %", ColumnType::kPercent});
  }
  table.columns.push_back({"gain", "gain", ColumnType::kPercent});

  const auto add_scores = [&](std::vector<Cell>& row, const PredictionScore& score) {
    row.emplace_back(score.micro_f1);
    if (several_runs) row.emplace_back(score.micro_f1_deviation);
    row.emplace_back(score.macro_f1);
    row.emplace_back(score.micro_f1_all);
    row.emplace_back(score.majority);
    row.emplace_back(score.propagation);
    if (timed) row.emplace_back(score.last_label);
    row.emplace_back(summary.Gain(score));
  };
  for (const auto& score : summary.scores) {
    std::vector<Cell> row = {score.prediction, score.time, score.test_nodes};
    add_scores(row, score);
    table.rows.push_back(std::move(row));
  }
  if (!summary.last) return table;
  std::vector<Cell> average = {std::string("average"), Cell{}, Cell{}};
  add_scores(average, summary.average);
  table.footer.push_back(std::move(average));
  const PredictionScore& score = summary.scores[*summary.last];
  std::vector<Cell> last = {std::string("last"), score.time, score.test_nodes};
  add_scores(last, score);
  table.footer.push_back(std::move(last));
  return table;
}

arrow::Result<ResultsTable> MicroF1Table(const arrow::Table& metrics,
                                         const std::vector<IniSection>& settings) {
  ARROW_ASSIGN_OR_RAISE(const MicroF1Summary summary, SummarizeMicroF1(metrics));
  return MicroF1Table(summary, TrainingFacts(settings));
}

}  // namespace coden
