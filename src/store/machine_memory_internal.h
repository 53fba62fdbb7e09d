#pragma once

#include <cstdint>
#include <string>

namespace coden {

/// Memory that this process may use, in bytes: that of the machine, or of the control
/// groups (cgroup v1 or v2) it runs in, whichever is the least. Read once.
std::int64_t MachineMemory();

/// Give the memory that the allocators keep free back to the system: after a stage, what
/// it has released must not add to what the next one takes. Takes milliseconds.
void ReturnFreeMemory();

/// The smallest memory limit of the control groups of this process and of all groups
/// above them; the largest number where none has one. Files are read below `root`, which
/// is empty except in tests.
std::int64_t ControlGroupLimit(const std::string& root = {});

}  // namespace coden
