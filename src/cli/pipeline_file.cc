#include <cstdlib>
#include <fstream>

#include <boost/program_options.hpp>

#include "cli/pipeline_file_internal.h"
#include "coden/pipeline/error.h"

namespace coden {

namespace {

namespace po = boost::program_options;

arrow::Result<std::string> ExpandVariables(const std::string& value) {
  std::string expanded;
  std::size_t begin = 0;
  while (true) {
    const std::size_t open = value.find("${", begin);
    expanded += value.substr(begin, open - begin);
    if (open == std::string::npos) return expanded;
    const std::size_t close = value.find('}', open);
    if (close == std::string::npos) {
      return UsageError("`${` must end with `}`: '", value, "'");
    }
    const std::string name = value.substr(open + 2, close - open - 2);
    const char* variable = std::getenv(name.c_str());
    if (variable == nullptr) {
      return UsageError("the environment variable ", name,
                        " is not set, and the value needs it: '", value, "'");
    }
    expanded += variable;
    begin = close + 1;
  }
}

}  // namespace

arrow::Status ReadPipelineFile(const std::string& path, Settings* settings) {
  std::ifstream file(path);
  if (!file) return UsageError("cannot open the pipeline file '", path, "'");
  // Program_options reports by throwing; this is the fence.
  po::parsed_options parsed(nullptr);
  try {
    parsed = po::parse_config_file(file, po::options_description(),
                                   /*allow_unregistered=*/true);
  } catch (const po::error& error) {
    return UsageError("'", path, "': ", error.what());
  }
  for (const auto& option : parsed.options) {
    const auto set = [&]() -> arrow::Status {
      const std::string& value =
          option.value.empty() ? std::string() : option.value.front();
      ARROW_ASSIGN_OR_RAISE(const std::string expanded, ExpandVariables(value));
      return Set(*settings, option.string_key, expanded);
    };
    ARROW_RETURN_NOT_OK(WithFault(set(), Fault::kUsage, "'" + path + "': "));
  }
  return arrow::Status::OK();
}

}  // namespace coden
