#include <algorithm>

#include <boost/program_options.hpp>

#include "cli/command_line_internal.h"
#include "coden/base/error.h"

namespace coden {

namespace {

namespace po = boost::program_options;

constexpr std::size_t kHelpWidth = 90;
constexpr std::size_t kHelpIndent = 6;

std::string Wrap(const std::string& text) {
  std::string lines;
  std::string line(kHelpIndent, ' ');
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (line.size() + word.size() + 1 > kHelpWidth) {
      lines += line + "\n";
      line.assign(kHelpIndent, ' ');
    }
    if (line.size() > kHelpIndent) line += ' ';
    line += word;
    begin = end + 1;
  }
  return lines + line + "\n";
}

constexpr std::string_view kLogFormat = "log-format";

}  // namespace

std::span<const FlagHelp> CommonFlags() {
  static const std::vector<FlagHelp> flags = {
      {"help", "", "Show the flags of a command and the settings that it uses.", "",
       /*takes_value=*/false, 'h'},
      {"help-all", "", "Show all settings, also those of other commands.", "",
       /*takes_value=*/false},
      {"version", "", "Print the version.", "", /*takes_value=*/false, 'V'},
      {"quiet", "", "Write only errors to standard error.", "", /*takes_value=*/false,
       'q'},
      {std::string(kLogFormat), "text or json",
       "Format of the log lines and errors on standard error.", "text"},
  };
  return flags;
}

arrow::Result<Invocation> SplitInvocation(const std::vector<std::string>& arguments) {
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].starts_with('-')) {
    at += arguments[at] == "--" + std::string(kLogFormat) ? 2 : 1;
  }
  at = std::min(at, arguments.size());
  Invocation invocation;
  invocation.arguments.assign(arguments.begin(),
                              arguments.begin() + static_cast<std::ptrdiff_t>(at));
  const OnUnknownFlag refuse = [](const std::string& name) {
    return UsageError("only common flags such as --quiet stand before the command; give ",
                      "the others behind it: `", name, "`");
  };
  ARROW_RETURN_NOT_OK(ParseCommandLine(invocation.arguments, {}, refuse).status());
  if (at == arguments.size()) return invocation;
  invocation.command = arguments[at];
  invocation.arguments.insert(invocation.arguments.end(),
                              arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                              arguments.end());
  return invocation;
}

LogFormat FindLogFormat(std::span<const char* const> arguments) {
  LogFormat format = LogFormat::kText;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (!argument.starts_with("--")) continue;
    argument.remove_prefix(2);
    if (!argument.starts_with(kLogFormat)) continue;
    argument.remove_prefix(kLogFormat.size());
    std::string_view value;
    if (argument.starts_with('=')) {
      value = argument.substr(1);
    } else if (argument.empty() && i + 1 < arguments.size()) {
      value = arguments[i + 1];
    } else {
      continue;
    }
    format = value == "json" ? LogFormat::kJson : LogFormat::kText;
  }
  return format;
}

arrow::Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments,
                                            std::span<const FlagHelp> flags,
                                            const OnUnknownFlag& on_unknown) {
  po::options_description known;
  const auto add = [&known](const FlagHelp& flag) {
    const std::string names =
        flag.short_name == 0 ? flag.name : flag.name + "," + flag.short_name;
    if (flag.takes_value) {
      known.add_options()(names.c_str(), po::value<std::string>());
    } else {
      known.add_options()(names.c_str(), "");
    }
  };
  for (const FlagHelp& flag : CommonFlags()) add(flag);
  for (const FlagHelp& flag : flags) add(flag);

  // Program_options reports by throwing; this is the fence.
  po::parsed_options parsed(&known);
  try {
    using po::command_line_style::allow_guessing;
    using po::command_line_style::unix_style;
    parsed = po::command_line_parser(arguments)
                 .options(known)
                 .style(unix_style & ~allow_guessing)
                 .run();
  } catch (const po::unknown_option& error) {
    return on_unknown(error.get_option_name());
  } catch (const po::error& error) {
    return UsageError(error.what());
  }

  CommandLine line;
  for (const auto& option : parsed.options) {
    if (option.position_key >= 0) {
      line.words.insert(line.words.end(), option.value.begin(), option.value.end());
      continue;
    }
    const std::string& name = option.string_key;
    if (name == "help") {
      line.help = true;
    } else if (name == "help-all") {
      line.help_all = true;
    } else if (name == "version") {
      line.version = true;
    } else if (name == "quiet") {
      line.quiet = true;
    } else if (name == "force") {
      line.force = true;
    } else if (name == "resume") {
      line.resume = true;
    } else if (name == "format") {
      line.format = option.value.at(0);
    } else if (name == "table") {
      line.table = option.value.at(0);
    } else if (name == kLogFormat) {
      const std::string& value = option.value.at(0);
      if (value != "text" && value != "json") {
        return UsageError("`--log-format` must be text or json: '", value, "'");
      }
      line.log_format = value == "json" ? LogFormat::kJson : LogFormat::kText;
    } else {
      // A flag that takes no value is there or not.
      line.flags.emplace_back(name, option.value.empty() ? "true" : option.value.at(0));
    }
  }
  return line;
}

std::string DescribeFlags(std::span<const FlagHelp> flags) {
  std::string text;
  for (const FlagHelp& flag : flags) {
    text += "  ";
    if (flag.short_name != 0) text += std::string("-") + flag.short_name + ", ";
    text += "--" + flag.name;
    if (flag.takes_value) text += " VALUE";
    if (!flag.default_text.empty()) text += "   (default: " + flag.default_text + ")";
    text += "\n" + Wrap(flag.help + (flag.rule.empty() || flag.rule == "text"
                                         ? std::string()
                                         : " Must be " + flag.rule + "."));
  }
  return text;
}

}  // namespace coden
