#include "coden/store/input_counts.h"

namespace coden {

std::span<const InputCountField> InputCountFields() {
  using C = InputCounts;
  static constexpr InputCountField kFields[] = {
      {"rows_read", "rows of the edge log: read", false, &C::rows_read},
      {"rows_before", "rows before `input.from`: not read", true, &C::rows_before},
      {"rows_after", "rows from `input.until` on: not read", true, &C::rows_after},
      {"rows_late", "rows came late: dropped (`input.late`)", true, &C::rows_late},
      {"rows_unused", "rows after the last prediction time: not used", true,
       &C::rows_unused},
      {"self_loops", "self loops: dropped (`graph.self_loops` keeps them)", true,
       &C::self_loops},
      {"repeated_edges", "rows repeat an edge that is there: ignored", true,
       &C::repeated_edges},
      {"absent_deletions", "deletions of an absent edge: skipped (`graph.lenient`)", true,
       &C::absent_deletions},
      {"expired_edges", "edges expired (`graph.window`)", true, &C::expired_edges},
      {"nodes_without_features", "nodes have no feature row: zeros are used", true,
       &C::nodes_without_features},
      {"feature_rows", "rows of the features: read", false, &C::feature_rows},
      {"feature_rows_unmatched", "rows of the features name no node of the log", false,
       &C::feature_rows_unmatched},
      {"update_rows", "rows of the feature updates: read", false, &C::update_rows},
      {"update_rows_unmatched", "rows of the feature updates name no node of the log",
       false, &C::update_rows_unmatched},
      {"label_rows", "rows of the labels: read", false, &C::label_rows},
      {"label_rows_unmatched", "rows of the labels name no node of the log", false,
       &C::label_rows_unmatched},
      {"split_rows", "rows of the split: read", false, &C::split_rows},
      {"split_rows_unmatched", "rows of the split name no node of the log", false,
       &C::split_rows_unmatched},
  };
  return kFields;
}

}  // namespace coden
