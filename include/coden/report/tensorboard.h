#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace coden {

/// A number that TensorBoard draws: the value of `tag` at `step`.
struct ScalarEvent {
  std::string tag;
  std::int64_t step = 0;
  float value = 0.0f;
  double wall_time = 0.0;  ///< seconds since 1970
};

/// The bytes of an event file that holds `events`: records with checksums, of which the
/// first names the version of the format.
std::string TensorboardEvents(std::span<const ScalarEvent> events);

}  // namespace coden
