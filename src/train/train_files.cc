#include <arrow/builder.h>
#include <arrow/type.h>
#include <nlohmann/json.hpp>

#include "train/train_files_internal.h"

namespace coden {

namespace {

std::shared_ptr<arrow::Field> Required(const char* name,
                                       std::shared_ptr<arrow::DataType> type) {
  return arrow::field(name, std::move(type), /*nullable=*/false);
}

const char* NameOf(Part part) {
  switch (part) {
    case Part::kTrain:
      return "train";
    case Part::kValidate:
      return "validate";
    case Part::kUnused:
      return "unused";
    case Part::kTest:
      break;
  }
  return "test";
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> FinishBatch(
    const std::shared_ptr<arrow::Schema>& schema,
    std::initializer_list<arrow::ArrayBuilder*> builders) {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (arrow::ArrayBuilder* builder : builders) {
    ARROW_ASSIGN_OR_RAISE(auto column, builder->Finish());
    columns.push_back(std::move(column));
  }
  const std::int64_t num_rows = columns.front()->length();
  return arrow::RecordBatch::Make(schema, num_rows, std::move(columns));
}

}  // namespace

std::shared_ptr<arrow::Schema> PredictionsSchema(
    const std::shared_ptr<arrow::DataType>& node_type,
    const std::shared_ptr<arrow::DataType>& label_type) {
  return arrow::schema({
      Required("run", arrow::int32()),
      Required("node", node_type),
      Required("prediction", arrow::int32()),
      Required("time", arrow::int64()),
      Required("label", label_type),
      Required("predicted", label_type),
      Required("probability", arrow::float64()),
      Required("split", arrow::utf8()),
      Required("present", arrow::boolean()),
  });
}

std::shared_ptr<arrow::Schema> MetricsSchema() {
  return arrow::schema({
      Required("run", arrow::int32()),
      Required("prediction", arrow::int32()),
      Required("time", arrow::int64()),
      Required("test_nodes", arrow::int64()),
      Required("absent_nodes", arrow::int64()),
      Required("micro_f1", arrow::float64()),
      Required("micro_f1_all", arrow::float64()),
      Required("macro_f1", arrow::float64()),
      Required("validate_micro_f1", arrow::float64()),
      Required("loss", arrow::float64()),
      Required("majority_micro_f1", arrow::float64()),
      Required("propagation_micro_f1", arrow::float64()),
      arrow::field("last_label_micro_f1", arrow::float64()),
      Required("best_control", arrow::utf8()),
      Required("gain", arrow::float64()),
      arrow::field("dirichlet_energy", arrow::float64()),
      arrow::field("relative_energy", arrow::float64()),
  });
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> PredictionsBatch(
    const TrainingInput& input, std::span<const Part> split, const PairScores& scores,
    int run, std::int64_t k) {
  const TrainingData& data = input.data;
  const PredictionPoint& point = data.predictions[k];
  const arrow::ArraySpan node_ids(*input.node_ids->data());
  const arrow::ArraySpan classes(*input.classes->data());
  arrow::Int32Builder runs, predictions;
  arrow::Int64Builder times;
  arrow::DoubleBuilder probabilities;
  arrow::StringBuilder splits;
  arrow::BooleanBuilder presents;
  // Ids and classes are of the user's type, int64 or utf8.
  ARROW_ASSIGN_OR_RAISE(auto nodes, arrow::MakeBuilder(input.node_ids->type()));
  ARROW_ASSIGN_OR_RAISE(auto labels, arrow::MakeBuilder(input.classes->type()));
  ARROW_ASSIGN_OR_RAISE(auto predicted, arrow::MakeBuilder(input.classes->type()));
  for (std::int64_t node = 0; node < data.num_nodes; ++node) {
    const std::int64_t pair = node * data.num_predictions() + k;
    if (scores.predicted[pair] < 0) continue;
    ARROW_RETURN_NOT_OK(runs.Append(run));
    ARROW_RETURN_NOT_OK(nodes->AppendArraySlice(node_ids, node, 1));
    ARROW_RETURN_NOT_OK(predictions.Append(point.prediction));
    ARROW_RETURN_NOT_OK(times.Append(point.time));
    ARROW_RETURN_NOT_OK(labels->AppendArraySlice(classes, data.labels[pair], 1));
    ARROW_RETURN_NOT_OK(predicted->AppendArraySlice(classes, scores.predicted[pair], 1));
    ARROW_RETURN_NOT_OK(probabilities.Append(scores.probability[pair]));
    ARROW_RETURN_NOT_OK(splits.Append(NameOf(split[node])));
    ARROW_RETURN_NOT_OK(presents.Append(data.present[pair] != 0));
  }
  return FinishBatch(PredictionsSchema(input.node_ids->type(), input.classes->type()),
                     {&runs, nodes.get(), &predictions, &times, labels.get(),
                      predicted.get(), &probabilities, &splits, &presents});
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> MetricsBatch(
    std::span<const std::vector<PredictionMetrics>> runs) {
  arrow::Int32Builder run, prediction;
  arrow::Int64Builder time, test_nodes, absent_nodes;
  arrow::DoubleBuilder micro_f1, micro_f1_all, macro_f1, validate_micro_f1, loss,
      majority, propagation, last_label, gain, energy, relative_energy;
  arrow::StringBuilder best_control;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const PredictionMetrics& metrics : runs[i]) {
      ARROW_RETURN_NOT_OK(run.Append(static_cast<std::int32_t>(i)));
      ARROW_RETURN_NOT_OK(prediction.Append(metrics.prediction));
      ARROW_RETURN_NOT_OK(time.Append(metrics.time));
      ARROW_RETURN_NOT_OK(test_nodes.Append(metrics.test_nodes));
      ARROW_RETURN_NOT_OK(absent_nodes.Append(metrics.absent_nodes));
      ARROW_RETURN_NOT_OK(micro_f1.Append(metrics.micro_f1));
      ARROW_RETURN_NOT_OK(micro_f1_all.Append(metrics.micro_f1_all));
      ARROW_RETURN_NOT_OK(macro_f1.Append(metrics.macro_f1));
      ARROW_RETURN_NOT_OK(validate_micro_f1.Append(metrics.validate_micro_f1));
      ARROW_RETURN_NOT_OK(loss.Append(metrics.loss));
      ARROW_RETURN_NOT_OK(majority.Append(metrics.majority_micro_f1));
      ARROW_RETURN_NOT_OK(propagation.Append(metrics.propagation_micro_f1));
      ARROW_RETURN_NOT_OK(last_label.AppendOrNull(metrics.last_label_micro_f1));
      ARROW_RETURN_NOT_OK(best_control.Append(metrics.best_control));
      ARROW_RETURN_NOT_OK(gain.Append(metrics.gain));
      ARROW_RETURN_NOT_OK(energy.AppendOrNull(metrics.dirichlet_energy));
      ARROW_RETURN_NOT_OK(relative_energy.AppendOrNull(metrics.relative_energy));
    }
  }
  return FinishBatch(
      MetricsSchema(),
      {&run, &prediction, &time, &test_nodes, &absent_nodes, &micro_f1, &micro_f1_all,
       &macro_f1, &validate_micro_f1, &loss, &majority, &propagation, &last_label,
       &best_control, &gain, &energy, &relative_energy});
}

std::string ControlsLine(int run, const PredictionMetrics& metrics) {
  nlohmann::ordered_json line = {{"run", run},
                                 {"prediction", metrics.prediction},
                                 {"micro_f1", metrics.micro_f1},
                                 {"majority_micro_f1", metrics.majority_micro_f1},
                                 {"propagation_micro_f1", metrics.propagation_micro_f1}};
  if (metrics.last_label_micro_f1)
    line["last_label_micro_f1"] = *metrics.last_label_micro_f1;
  line["best_control"] = metrics.best_control;
  line["gain"] = metrics.gain;
  return line.dump() + "\n";
}

std::string MetricsLine(int run, const EpochRecord& record) {
  const nlohmann::ordered_json line = {{"run", run},
                                       {"lesson", record.lesson},
                                       {"epoch", record.epoch},
                                       {"loss", record.loss},
                                       {"validate_micro_f1", record.validate_micro_f1},
                                       {"seconds", record.seconds}};
  return line.dump() + "\n";
}

}  // namespace coden
