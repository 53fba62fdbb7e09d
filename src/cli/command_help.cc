// Which flags a command takes, what it says to others, and the texts of --help.

#include <algorithm>

#include "base/nearest_internal.h"
#include "cli/command_internal.h"
#include "coden/base/error.h"

namespace coden {

namespace {

// Flags that mean the same in every command that takes them.
std::vector<FlagHelp> SharedFlags(const Command& command) {
  const FlagHelp shared[] = {
      {"force", "", "Rebuild existing output instead of skipping or refusing it.", "",
       /*takes_value=*/false},
      {"resume", "", "Resume an interrupted training; fail if there is none.", "",
       /*takes_value=*/false},
      {"format", "table, json or csv", "Format of the results on standard output.",
       "table"},
      {"table", "", "Print only this table. CSV needs it where there are several.", ""},
  };
  std::vector<FlagHelp> flags;
  for (const FlagHelp& flag : shared) {
    const auto& taken = command.shared_flags;
    if (std::find(taken.begin(), taken.end(), flag.name) != taken.end())
      flags.push_back(flag);
  }
  return flags;
}

// All that the command takes besides the common flags, settings last; of two that share
// a name the first.
std::vector<FlagHelp> FlagsOf(const Command& command) {
  std::vector<FlagHelp> all = SharedFlags(command);
  const auto add = [&](const std::vector<FlagHelp>& flags) {
    for (const FlagHelp& flag : flags) {
      const bool known = std::any_of(all.begin(), all.end(), [&](const FlagHelp& other) {
        return other.name == flag.name;
      });
      if (!known) all.push_back(flag);
    }
  };
  for (const FlagSection& section : command.flags) add(section.flags);
  if (!command.sections.empty()) add(SettingFlags());
  return all;
}

arrow::Status UnknownFlag(const Command& command, const std::string& given) {
  const std::string name =
      given.substr(std::min(given.find_first_not_of('-'), given.size()));
  std::string takers;
  for (const Command& other : AllCommands()) {
    for (const FlagHelp& flag : FlagsOf(other)) {
      if (flag.name == name)
        takers += (takers.empty() ? "" : ", ") + std::string(other.name);
    }
  }
  std::vector<std::string> names;
  for (const FlagHelp& flag : CommonFlags()) names.push_back(flag.name);
  for (const FlagHelp& flag : FlagsOf(command)) names.push_back(flag.name);
  const std::string_view nearest =
      Nearest(name, std::vector<std::string_view>(names.begin(), names.end()));
  if (takers.empty()) {
    return UsageError("unknown flag `", given.starts_with('-') ? given : "--" + given,
                      "`; the nearest is `--", nearest, "`");
  }
  const std::string setting = nearest.ends_with("." + name)
                                  ? "; the setting is `--" + std::string(nearest) + "`"
                                  : std::string();
  return UsageError("`coden ", command.name, "` does not take `--", name,
                    "`; these commands do: ", takers, setting);
}

}  // namespace

std::vector<FlagHelp> SettingFlags() {
  std::vector<FlagHelp> flags;
  for (const Setting& setting : AllSettings()) {
    flags.push_back({setting.key, setting.rule, setting.help, setting.default_text});
  }
  return flags;
}

arrow::Result<Command> FindCommand(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command& command : AllCommands()) {
    // A copy made inside arrow::Result could not report that there is no memory for it.
    if (command.name == name) return Command(command);
    names.push_back(command.name);
  }
  return UsageError("unknown command `", name, "`; the nearest is `",
                    Nearest(name, names), "` (`coden --help` lists all)");
}

arrow::Result<CommandLine> ParseFlagsOf(const Command& command,
                                        const std::vector<std::string>& arguments) {
  return ParseCommandLine(arguments, FlagsOf(command), [&](const std::string& name) {
    return UnknownFlag(command, name);
  });
}

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
  return text + "\nFlags of every command:\n" + DescribeFlags(CommonFlags()) +
         "\n`coden COMMAND --help` lists the flags of a command and the settings that it "
         "uses.\n"
         "Exit codes: 0 success, 1 failed, 2 wrong usage, 3 input rejected, 4 out of "
         "space or\n"
         "memory, 5 corruption found, 6 try again later, 7 the run was made from other "
         "inputs or\n"
         "settings, 130/143 interrupted.\n";
}

std::string CommandHelp(const Command& command, bool all_settings) {
  std::string text = "Usage: coden " + std::string(command.name) + " " +
                     std::string(command.arguments) + " [FLAG]...\n\n" +
                     std::string(command.summary) + "\n\nFlags:\n" +
                     DescribeFlags(CommonFlags()) + DescribeFlags(SharedFlags(command));
  for (const FlagSection& section : command.flags) {
    text += "\n" + section.title + "\n" + DescribeFlags(section.flags);
  }
  if (command.sections.empty()) return text;
  std::string_view section;
  for (const Setting& setting : AllSettings()) {
    const auto& used = command.sections;
    const auto is_this = [&](std::string_view name) {
      return name == setting.section() || name == setting.key;
    };
    if (!all_settings && std::none_of(used.begin(), used.end(), is_this)) continue;
    if (setting.section() != section) {
      section = setting.section();
      text += "\nSettings of [" + std::string(section) + "]:\n";
    }
    const FlagHelp flag = {setting.key, setting.rule, setting.help, setting.default_text};
    text += DescribeFlags({&flag, 1});
  }
  if (!all_settings) {
    text +=
        "\n`coden " + std::string(command.name) +
        " --help-all` lists all settings. Those that are not listed here are accepted "
        "and have no effect.\n";
  }
  return text;
}

}  // namespace coden
