#pragma once

#include <string>

namespace coden {

struct ExperimentOptions {
  std::string directory;
  std::string values;
};

}  // namespace coden
