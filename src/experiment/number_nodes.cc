#include "experiment/number_nodes_internal.h"

#include "coden/base/printable.h"
#include "coden/base/runner.h"

namespace coden {

arrow::Status NumberNodes(const Settings& settings, RunInputs& inputs,
                          const RunContext& context) {
  EventReader events(settings.input.edges, settings.graph.events, *inputs.nodes,
                     {.first_row = inputs.log.num_before, .late = {settings.input.late}});
  ARROW_ASSIGN_OR_RAISE(const auto source, inputs.log.Scan(settings.input.batch_rows));
  Operator* stages[] = {&events};
  context.progress->Begin("nodes", "rows", inputs.log.num_rows);
  ARROW_RETURN_NOT_OK(
      Run(
          *source, stages, [](const BatchPtr&) { return arrow::Status::OK(); }, context)
          .status());
  context.progress->End(CountOf(inputs.nodes->size(), "nodes"));
  return arrow::Status::OK();
}

}  // namespace coden
