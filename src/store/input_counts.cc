#include "coden/store/input_counts.h"

namespace coden {

std::span<const InputCountField> InputCountFields() {
  using C = InputCounts;
  using Told = InputCountField::Told;
  static constexpr InputCountField kFields[] = {
      {"rows_read", "rows of the edge log: read", Told::kSilently, &C::rows_read},
      {"rows_before", "rows before `input.from`: not read", Told::kNote, &C::rows_before},
      {"rows_after", "rows from `input.until` on: not read", Told::kNote, &C::rows_after},
      {"rows_late", "rows came late: dropped (`input.late`)", Told::kWarning,
       &C::rows_late},
      {"rows_unused", "rows after the last prediction time: not used", Told::kNote,
       &C::rows_unused},
      {"self_loops", "self loops: dropped (`graph.self_loops` keeps them)",
       Told::kWarning, &C::self_loops},
      {"repeated_edges", "rows repeat an edge that is there: ignored", Told::kNote,
       &C::repeated_edges},
      {"absent_deletions", "deletions of an absent edge: skipped (`graph.lenient`)",
       Told::kWarning, &C::absent_deletions},
      {"expired_edges", "edges expired (`graph.window`)", Told::kNote, &C::expired_edges},
      {"nodes_without_features", "nodes have no feature row: zeros are used", Told::kNote,
       &C::nodes_without_features},
      {"feature_rows", "rows of the features: read", Told::kSilently, &C::feature_rows},
      {"feature_rows_unmatched", "rows of the features name no node of the log",
       Told::kSilently, &C::feature_rows_unmatched},
      {"update_rows", "rows of the feature updates: read", Told::kSilently,
       &C::update_rows},
      {"update_rows_unmatched", "rows of the feature updates name no node of the log",
       Told::kSilently, &C::update_rows_unmatched},
      {"label_rows", "rows of the labels: read", Told::kSilently, &C::label_rows},
      {"label_rows_unmatched", "rows of the labels name no node of the log",
       Told::kSilently, &C::label_rows_unmatched},
      {"split_rows", "rows of the split: read", Told::kSilently, &C::split_rows},
      {"split_rows_unmatched", "rows of the split name no node of the log",
       Told::kSilently, &C::split_rows_unmatched},
  };
  return kFields;
}

}  // namespace coden
