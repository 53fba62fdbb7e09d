#include "experiment/experiment_file_internal.h"

#include <cmath>

#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "coden/base/printable.h"

namespace coden {

std::shared_ptr<arrow::Schema> ExperimentSchema() {
  const auto required = [](const char* name, std::shared_ptr<arrow::DataType> type) {
    return arrow::field(name, std::move(type), /*nullable=*/false);
  };
  return arrow::schema({
      required("suite", arrow::utf8()),
      required("cell", arrow::utf8()),
      required("quantity", arrow::utf8()),
      arrow::field("run", arrow::int32()),
      arrow::field("prediction", arrow::int32()),
      arrow::field("time", arrow::int64()),
      arrow::field("snapshot", arrow::int32()),
      arrow::field("value", arrow::float64()),
      required("settings", arrow::map(arrow::utf8(), arrow::utf8())),
  });
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ExperimentBatch(
    std::string_view suite, std::span<const MeasuredTrial> trials) {
  const auto schema = ExperimentSchema();
  arrow::StringBuilder suites, cells, quantities;
  arrow::Int32Builder runs, predictions, snapshots;
  arrow::Int64Builder times;
  arrow::DoubleBuilder values;
  auto keys = std::make_shared<arrow::StringBuilder>();
  auto texts = std::make_shared<arrow::StringBuilder>();
  arrow::MapBuilder settings(arrow::default_memory_pool(), keys, texts,
                             schema->GetFieldByName("settings")->type());
  const auto append = [](auto& builder, auto value, bool known) {
    return known ? builder.Append(value) : builder.AppendNull();
  };
  for (const auto& [trial, result] : trials) {
    const std::string name =
        trial.group.empty() ? trial.name : trial.group + " " + trial.name;
    for (const Measurement& one : result.measurements) {
      ARROW_RETURN_NOT_OK(suites.Append(suite));
      ARROW_RETURN_NOT_OK(cells.Append(name));
      ARROW_RETURN_NOT_OK(quantities.Append(one.quantity));
      ARROW_RETURN_NOT_OK(append(runs, one.run, one.run >= 0));
      ARROW_RETURN_NOT_OK(append(predictions, one.prediction, one.prediction >= 0));
      ARROW_RETURN_NOT_OK(append(times, one.time, one.time != kNoTime));
      ARROW_RETURN_NOT_OK(append(snapshots, one.snapshot, one.snapshot >= 0));
      ARROW_RETURN_NOT_OK(append(values, one.value, std::isfinite(one.value)));
      ARROW_RETURN_NOT_OK(settings.Append());
      for (const Setting& setting : AllSettings()) {
        ARROW_RETURN_NOT_OK(keys->Append(setting.key));
        ARROW_RETURN_NOT_OK(texts->Append(MaskCredentials(setting.get(trial.settings))));
      }
    }
  }
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (arrow::ArrayBuilder* builder : std::initializer_list<arrow::ArrayBuilder*>{
           &suites, &cells, &quantities, &runs, &predictions, &times, &snapshots, &values,
           &settings}) {
    ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), builder->Finish());
  }
  const std::int64_t num_rows = columns.front()->length();
  return arrow::RecordBatch::Make(schema, num_rows, std::move(columns));
}

}  // namespace coden
