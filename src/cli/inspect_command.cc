#include "coden/report/inspect.h"

#include "cli/command_internal.h"
#include "coden/base/error.h"

namespace coden {

arrow::Status InspectCommand(const CommandLine& line, const RunContext&,
                             std::string* output) {
  if (line.words.size() != 1) {
    return UsageError("`inspect` needs one path: a log, a snapshot, a model or a run");
  }
  OutputForm form{.table = line.table};
  ARROW_ASSIGN_OR_RAISE(form.format, FormatFrom(line));
  ARROW_ASSIGN_OR_RAISE(const auto tables, Inspect(line.words.front()));
  return RenderAll(tables, form).Value(output);
}

}  // namespace coden
