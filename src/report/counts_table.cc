#include "coden/report/counts_table.h"

namespace coden {

ResultsTable CountsTable(const Manifest& manifest) {
  ResultsTable table;
  table.key = "input_counts";
  table.title = "Input counts";
  table.columns = {
      {"key", "key"}, {"count", "count", ColumnType::kInteger}, {"what", "what"}};
  for (const InputCountField& field : InputCountFields()) {
    for (const PartRecord& part : manifest.parts) {
      if (const auto& count = part.counts.*field.value)
        table.rows.push_back({std::string(field.key), *count, std::string(field.text)});
    }
  }
  return table;
}

}  // namespace coden
