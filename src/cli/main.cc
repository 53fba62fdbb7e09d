#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <arrow/util/cancel.h>

#include "cli/command_internal.h"
#include "cli/console_internal.h"
#include "cli/exit_code_internal.h"
#include "coden/base/error.h"
#include "coden/store/filesystem.h"
#include "coden/version.h"

namespace coden {

namespace {

constexpr char kNoMemory[] = "out of memory; see `coden plan` for what is needed";

// An interrupt asks the work to stop; the stop token that carries it is polled
// everywhere.
arrow::Result<arrow::StopToken> StopOnSignals() {
  ARROW_ASSIGN_OR_RAISE(arrow::StopSource * source, arrow::SetSignalStopSource());
  ARROW_RETURN_NOT_OK(arrow::RegisterCancellingSignalHandler({SIGINT, SIGTERM}));
  return source->token();
}

arrow::Status Print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    return arrow::Status::IOError("cannot write to standard output");
  }
  return arrow::Status::OK();
}

arrow::Status PrintVersion() { return Print("coden " + std::string(kVersion) + "\n"); }

// `coden` without a command, and `coden help`.
arrow::Status RunWithoutCommand(const Invocation& invocation) {
  const bool asks = invocation.command == "help";
  const auto refuse = [](const std::string& name) {
    return UsageError("`coden help` takes no flag but the common ones: `", name, "`");
  };
  ARROW_ASSIGN_OR_RAISE(const CommandLine line,
                        ParseCommandLine(invocation.arguments, {}, refuse));
  if (line.version) return PrintVersion();
  if (line.words.size() > 1) {
    return UsageError("`coden help` takes one command: '", line.words[1], "'");
  }
  if (!line.words.empty()) {
    ARROW_ASSIGN_OR_RAISE(const Command command, FindCommand(line.words[0]));
    return Print(CommandHelp(command, line.help_all));
  }
  if (asks || line.help || line.help_all) return Print(GeneralHelp());
  if (invocation.arguments.empty()) std::fputs(GeneralHelp().c_str(), stderr);
  return UsageError("give a command; `coden --help` lists them");
}

arrow::Status RunTool(const std::vector<std::string>& arguments,
                      std::unique_ptr<Console>* console) {
  ARROW_ASSIGN_OR_RAISE(const Invocation invocation, SplitInvocation(arguments));
  if (invocation.command.empty() || invocation.command == "help")
    return RunWithoutCommand(invocation);
  ARROW_ASSIGN_OR_RAISE(const Command command, FindCommand(invocation.command));
  ARROW_ASSIGN_OR_RAISE(const CommandLine line,
                        ParseFlagsOf(command, invocation.arguments));
  if (line.version) return PrintVersion();
  if (line.help || line.help_all) return Print(CommandHelp(command, line.help_all));
  *console = Console::Make(line.log_format, line.quiet);
  RunContext context{console->get()};
  ARROW_ASSIGN_OR_RAISE(context.stop, StopOnSignals());
  std::string output;
  arrow::Status status =
      WithPlaceOfSetting(command.run(line, context, &output), *line.places);
  ARROW_RETURN_NOT_OK(Print(output));
  return status;
}

int Main(std::span<const char* const> arguments) {
  auto console = Console::Make(FindLogFormat(arguments), /*quiet=*/false);
  arrow::Status status;
  // Nothing of ours throws; a library that does must still end in one line.
  try {
    status = RunTool({arguments.begin(), arguments.end()}, &console);
  } catch (const std::bad_alloc&) {
    status = arrow::Status::OutOfMemory(kNoMemory);
  } catch (const std::exception& exception) {
    status = arrow::Status::UnknownError(exception.what());
  }
  if (!status.ok()) console->Error(status);
  CloseFilesystems();
  return ExitCodeOf(status);
}

}  // namespace

}  // namespace coden

int main(int argc, char** argv) {
  const std::span<const char* const> arguments(argv + (argc > 0), argv + argc);
  // To say that there is no memory takes some; these lines take none.
  try {
    return coden::Main(arguments);
  } catch (const std::bad_alloc&) {
    const int code = static_cast<int>(coden::Fault::kResources);
    coden::WriteErrorWithoutMemory(coden::FindLogFormat(arguments), code,
                                   coden::kNoMemory);
    return code;
  } catch (const std::exception& exception) {
    coden::WriteErrorWithoutMemory(coden::FindLogFormat(arguments), 1, exception.what());
    return 1;
  }
}
