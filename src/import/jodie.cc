// JODIE's interaction files: user_id, item_id, timestamp, state_label and, behind a
// header that names them all in one field, any number of features.
//
// Kumar, Zhang, Leskovec: Predicting Dynamic Embedding Trajectory in Temporal Interaction
// Networks, KDD 2019.

#include "coden/import/jodie.h"

#include "coden/base/error.h"
#include "import/flag_internal.h"
#include "import/import_log_internal.h"

namespace coden {

namespace {

constexpr int kFirstFeature = 4;

}  // namespace

std::span<const ImportFlag<JodieOptions>> JodieOptions::Flags() {
  using importing::Declare;
  using Self = JodieOptions;
  static const auto flags = importing::WithSharedFlags<Self>({
      Declare<Self>(
          "edge-features", &Self::edge_features,
          setting_value::Choice<EdgeFeatures>{{{"ignore", EdgeFeatures::kIgnore},
                                               {"as-updates", EdgeFeatures::kAsUpdates}}},
          "How to use the features of interactions: ignore them, or write them to "
          "feature_updates.parquet as features of the user from that time on."),
  });
  return flags;
}

arrow::Result<ImportSummary> ImportJodie(const JodieOptions& options,
                                         const RunContext& context) {
  ARROW_RETURN_NOT_OK(generate::CheckEach(options));
  ARROW_RETURN_NOT_OK(importing::CheckTarget(options));
  const bool as_updates = options.edge_features == EdgeFeatures::kAsUpdates;
  int num_features = 0;
  importing::LogImport import;
  import.file = options.file;
  import.step = "interactions";
  import.header = HeaderRow::kAuto;
  import.bipartite = true;
  import.zero_labels_say_nothing = true;
  import.choose = [&](const importing::TextFormat& format,
                      const std::string& name) -> arrow::Result<importing::ColumnChoice> {
    if (format.num_fields < kFirstFeature) {
      return InputError(name, ": a row must have a user, an item, a time, a state label ",
                        "and features; `coden import edges` reads other files: ",
                        format.num_fields, " fields");
    }
    num_features = format.num_fields - kFirstFeature;
    importing::ColumnChoice columns;
    columns.src = 0;
    columns.dst = 1;
    columns.time = 2;
    columns.label = 3;
    if (!as_updates) return columns;
    if (num_features == 0) {
      return InputError(name, " has no features; leave `--edge-features` out");
    }
    for (int i = 0; i < num_features; ++i) columns.features.push_back(kFirstFeature + i);
    return columns;
  };
  import.metadata = importing::Provenance("jodie", options);
  ImportSummary summary;
  ARROW_ASSIGN_OR_RAISE(const auto log,
                        importing::ImportLog(import, options, context, &summary));
  ARROW_RETURN_NOT_OK(importing::Publish({&log, 1}, options, context, &summary));
  if (!log.files->has_labels()) {
    context.progress->Note("every state label is 0, so there is no labels.parquet");
  }
  if (num_features > 0 && !as_updates) {
    context.progress->Note(
        std::to_string(num_features) +
        " features of interactions are not imported, because coden has features of nodes "
        "alone; `--edge-features as-updates` gives them to the user");
  }
  return summary;
}

}  // namespace coden
