#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <arrow/util/cancel.h>

#include "cli/command_internal.h"
#include "cli/console_internal.h"
#include "cli/exit_code_internal.h"
#include "coden/pipeline/error.h"
#include "coden/store/filesystem.h"
#include "coden/version.h"
#include "pipeline/nearest_internal.h"

namespace coden {

namespace {

std::string GeneralHelp() {
  std::string text =
      "coden keeps node embeddings of a changing graph up to date as edges arrive,\nand "
      "predicts node labels from them over time.\n\nUsage: coden COMMAND [ARGUMENT] "
      "[--section.key VALUE]...\n\n";
  for (const Command& command : AllCommands()) {
    std::string left =
        "  " + std::string(command.name) + " " + std::string(command.arguments);
    left.resize(std::max<std::size_t>(left.size() + 2, 34), ' ');
    text += left + std::string(command.summary) + "\n";
  }
  return text +
         "\n`coden COMMAND --help` lists the flags of a command; `coden --version` "
         "prints "
         "the version.\nExit codes: 0 success, 1 failed, 2 wrong usage, 3 input "
         "rejected, 4 out "
         "of "
         "space or memory,\n5 corruption found, 130/143 interrupted.\n";
}

std::string CommandHelp(const Command& command) {
  std::string text = "Usage: coden " + std::string(command.name) + " " +
                     std::string(command.arguments) + " [FLAG]...\n\n" +
                     std::string(command.summary) + "\n\nFlags of every command:\n" +
                     DescribeFlags(CommonFlags());
  for (const FlagSection& section : command.flags) {
    text += "\n" + section.title + "\n" + DescribeFlags(section.flags);
  }
  return text;
}

arrow::Result<Command> FindCommand(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Command& command : AllCommands()) {
    // A copy made inside arrow::Result could not report that there is no memory for it.
    if (command.name == name) return Command(command);
    names.push_back(command.name);
  }
  return UsageError("unknown command `", name, "`; the nearest is `",
                    Nearest(name, names), "` (`coden --help` lists all)");
}

// An interrupt asks the work to stop; the stop token that carries it is polled
// everywhere.
arrow::Result<arrow::StopToken> StopOnSignals() {
  ARROW_ASSIGN_OR_RAISE(arrow::StopSource * source, arrow::SetSignalStopSource());
  ARROW_RETURN_NOT_OK(arrow::RegisterCancellingSignalHandler({SIGINT, SIGTERM}));
  return source->token();
}

arrow::Status RunTool(const std::vector<std::string>& arguments,
                      std::unique_ptr<Console>* console) {
  if (arguments.size() == 2 && arguments[0] == "help") {
    ARROW_ASSIGN_OR_RAISE(const Command command, FindCommand(arguments[1]));
    std::fputs(CommandHelp(command).c_str(), stdout);
    return arrow::Status::OK();
  }
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "help") {
    std::fputs(GeneralHelp().c_str(), arguments.empty() ? stderr : stdout);
    return arguments.empty() ? UsageError("give a command") : arrow::Status::OK();
  }
  if (arguments[0] == "--version") {
    std::printf("coden %.*s\n", static_cast<int>(kVersion.size()), kVersion.data());
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const Command command, FindCommand(arguments[0]));
  ARROW_ASSIGN_OR_RAISE(
      const CommandLine line,
      ParseCommandLine({arguments.begin() + 1, arguments.end()}, AllFlags(command)));
  if (line.help) {
    std::fputs(CommandHelp(command).c_str(), stdout);
    return arrow::Status::OK();
  }
  *console = Console::Make(line.log_format, line.quiet);
  RunContext context{console->get()};
  ARROW_ASSIGN_OR_RAISE(context.stop, StopOnSignals());
  std::string output;
  arrow::Status status = command.run(line, context, &output);
  if (std::fputs(output.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    return arrow::Status::IOError("cannot write to standard output");
  }
  return status;
}

int Main(int argc, char** argv) {
  auto console = Console::Make(LogFormat::kText, /*quiet=*/false);
  arrow::Status status;
  // Nothing of ours throws; a library that does must still end in one line.
  try {
    status = RunTool({argv + 1, argv + argc}, &console);
  } catch (const std::bad_alloc&) {
    status =
        arrow::Status::OutOfMemory("out of memory; see `coden plan` for what is needed");
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
  // To say that there is no memory takes some; this line takes none.
  try {
    return coden::Main(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("coden: error: out of memory; see `coden plan` for what is needed\n",
               stderr);
    return static_cast<int>(coden::Fault::kResources);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "coden: error: this should not happen, please report it: %s\n",
                 exception.what());
    return 1;
  }
}
