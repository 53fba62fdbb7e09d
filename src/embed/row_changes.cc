#include "embed/row_changes_internal.h"

#include <cmath>

namespace coden {

void FollowChanges(const UpdateContext& context, ColumnBlock& block) {
  const PropagationRule& rule = context.rule;
  const auto follow = [&]<typename T, int kWidth>() {
    T* g = block.g<T>();
    for (const Row row : context.changes.arrived) {
      const double factor = rule.alpha * rule.OutScale(context.degrees[row]);
      const std::size_t at = static_cast<std::size_t>(row) * kWidth;
      for (int lane = 0; lane < kWidth; ++lane)
        g[at + lane] = static_cast<T>(block.x()[at + lane] * factor);
    }
    for (const auto& change : context.changes.changed) {
      const double factor =
          rule.OutScale(context.degrees[change.row]) / rule.OutScale(change.old_degree);
      if (factor == 1.0) continue;
      const std::size_t at = static_cast<std::size_t>(change.row) * kWidth;
      for (int lane = 0; lane < kWidth; ++lane)
        g[at + lane] = static_cast<T>(g[at + lane] * factor);
    }
  };
  block.Dispatch(follow);
}

double ColumnDifference(std::size_t old_degree, std::size_t degree,
                        std::size_t num_removed, std::size_t num_added) {
  const double old_share = old_degree == 0 ? 0.0 : 1.0 / static_cast<double>(old_degree);
  const double share = degree == 0 ? 0.0 : 1.0 / static_cast<double>(degree);
  return static_cast<double>(degree - num_added) * std::abs(share - old_share) +
         static_cast<double>(num_removed) * old_share +
         static_cast<double>(num_added) * share;
}

}  // namespace coden
