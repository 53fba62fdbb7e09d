// What a piece of work costs this process: wall time, processor time and memory.
#pragma once

#include <chrono>
#include <ctime>
#include <fstream>
#include <string>

namespace coden {

struct Cost {
  double wall = 0.0;
  double cpu = 0.0;
};

class Stopwatch {
 public:
  Cost Elapsed() const {
    return {
        std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count(),
        CpuSeconds() - cpu_};
  }

 private:
  static double CpuSeconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  double cpu_ = CpuSeconds();
};

/// A field of /proc/self/status that counts kB, in bytes; 0 where there is none.
inline double StatusBytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":"))
      return 1024 * std::stod(line.substr(field.size() + 1));
  }
  return 0.0;
}

/// Let the high-water mark of memory start again from here, where the system allows it.
inline void ResetPeakMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace coden
