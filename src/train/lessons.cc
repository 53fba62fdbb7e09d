#include "train/lessons_internal.h"

#include <algorithm>
#include <numeric>

namespace coden {

std::int64_t Lesson::last() const { return std::max(learn.back(), predict.back()); }

std::vector<Lesson> MakeLessons(Protocol protocol, std::int64_t num_predictions) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(num_predictions));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  if (protocol == Protocol::kShared) return {{all, all}};
  std::vector<Lesson> lessons;
  lessons.reserve(all.size());
  for (const std::int64_t k : all) {
    if (protocol == Protocol::kEach) {
      lessons.push_back({{k}, {k}});
    } else if (k > 0) {
      lessons.push_back({{all.begin(), all.begin() + k}, {k}});
    }
  }
  return lessons;
}

bool StartsWarm(const TrainOptions& options,
                const std::vector<std::vector<std::int32_t>>& classes, int number) {
  return options.warm_start && number > 0 && !classes[number].empty() &&
         classes[number] == classes[number - 1];
}

}  // namespace coden
