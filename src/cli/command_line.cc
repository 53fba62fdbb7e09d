#include <algorithm>

#include <boost/program_options.hpp>

#include "cli/command_line_internal.h"
#include "coden/pipeline/error.h"
#include "pipeline/nearest_internal.h"

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

arrow::Status UnknownFlag(std::string name, std::span<const FlagHelp> flags) {
  name.erase(0, name.find_first_not_of('-'));
  std::vector<std::string_view> names;
  for (const FlagHelp& flag : flags) names.push_back(flag.name);
  for (const FlagHelp& flag : CommonFlags()) names.push_back(flag.name);
  return UsageError("unknown flag `--", name, "`; the nearest is `--",
                    Nearest(name, names), "`");
}

}  // namespace

std::span<const FlagHelp> CommonFlags() {
  static const std::vector<FlagHelp> flags = {
      {"help", "", "Show this help.", "", /*takes_value=*/false},
      {"quiet", "", "Write only errors to standard error.", "",
       /*takes_value=*/false},
      {"force", "", "Rebuild existing output instead of skipping or refusing it.", "",
       /*takes_value=*/false},
      {"resume", "", "Resume an interrupted training; fail if there is none.", "",
       /*takes_value=*/false},
      {"log-format", "text or json", "Format of the log lines on standard error.",
       "text"},
      {"format", "table, json or csv",
       "Format of the results on standard output; `settings` also has markdown "
       "and ini.",
       "table"},
  };
  return flags;
}

arrow::Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments,
                                            std::span<const FlagHelp> flags) {
  po::options_description known;
  const auto add = [&known](const FlagHelp& flag) {
    if (flag.takes_value) {
      known.add_options()(flag.name.c_str(), po::value<std::string>());
    } else {
      known.add_options()(flag.name.c_str(), "");
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
    return UnknownFlag(error.get_option_name(), flags);
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
    } else if (name == "quiet") {
      line.quiet = true;
    } else if (name == "force") {
      line.force = true;
    } else if (name == "resume") {
      line.resume = true;
    } else if (name == "log-format") {
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
    text += "  --" + flag.name;
    if (flag.takes_value) text += " VALUE";
    if (!flag.default_text.empty()) text += "   (default: " + flag.default_text + ")";
    text += "\n" + Wrap(flag.help + (flag.rule.empty() || flag.rule == "text"
                                         ? std::string()
                                         : " Must be " + flag.rule + "."));
  }
  return text;
}

}  // namespace coden
