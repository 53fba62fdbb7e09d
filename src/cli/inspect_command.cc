#include "coden/report/inspect.h"

#include "cli/command_internal.h"
#include "coden/pipeline/error.h"

namespace coden {

arrow::Status InspectCommand(const CommandLine& line, const RunContext&,
                             std::string* output) {
  if (line.words.size() != 1) {
    return UsageError("`inspect` needs one path: a log, a snapshot, a model or a run");
  }
  ARROW_ASSIGN_OR_RAISE(const TableFormat format, FormatFrom(line));
  ARROW_ASSIGN_OR_RAISE(const auto tables, Inspect(line.words.front()));
  *output = RenderAll(tables, format);
  return arrow::Status::OK();
}

}  // namespace coden
