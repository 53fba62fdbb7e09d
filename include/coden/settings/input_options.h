#pragma once

#include <cstdint>
#include <string>

namespace coden {

/// What becomes of rows that are added to a log after the run has predicted their time.
enum class LatePolicy { kRefuse, kDrop };

/// Where the inputs are and how their columns are called.
struct InputOptions {
  std::string edges;
  std::string features;
  std::string labels;
  std::string split;
  std::string feature_updates;
  int random_features = 0;
  std::uint64_t random_seed = 0;
  std::string from;   ///< empty: from the first row
  std::string until;  ///< empty: to the last row

  std::string src = "src";
  std::string dst = "dst";
  std::string time = "time";
  std::string op = "op";
  std::string node = "node";
  std::string feature = "x";
  std::string label = "label";
  std::string label_time;  ///< empty: the same as `time`, where the labels have it

  LatePolicy late = LatePolicy::kRefuse;
  int batch_rows = 131072;
};

}  // namespace coden
