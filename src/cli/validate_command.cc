#include "cli/command_internal.h"
#include "coden/pipeline/error.h"

namespace coden {
arrow::Result<std::string> ValidateCommand(const CommandLine&, const RunContext&) {
  return UsageError("later");
}
arrow::Result<std::string> InspectCommand(const CommandLine&, const RunContext&) {
  return UsageError("later");
}
}  // namespace coden
