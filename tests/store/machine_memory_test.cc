#include "store/machine_memory_internal.h"

#include <filesystem>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace coden {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// A folder that looks like the root of a machine.
class ControlGroups : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  std::int64_t Limit() const { return ControlGroupLimit(folder_.path()); }

 private:
  TempDir folder_;
};

TEST_F(ControlGroups, WithoutAnyThereIsNoLimit) { EXPECT_EQ(Limit(), kUnlimited); }

TEST_F(ControlGroups, VersionTwoSaysMemoryMax) {
  Write("/proc/self/cgroup", "0::/job");
  Write("/sys/fs/cgroup/job/memory.max", "max");
  EXPECT_EQ(Limit(), kUnlimited);
  Write("/sys/fs/cgroup/job/memory.max", "500000000");
  EXPECT_EQ(Limit(), 500'000'000);
}

TEST_F(ControlGroups, VersionOneHasAHierarchyForMemory) {
  Write("/proc/self/cgroup", "5:cpu,cpuacct:/job\n4:hugetlb,memory:/job\n0::/");
  Write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "300000000");
  Write("/sys/fs/cgroup/cpu/job/memory.limit_in_bytes", "1000");
  EXPECT_EQ(Limit(), 300'000'000);
}

TEST_F(ControlGroups, TheSmallestLimitOnThePathCounts) {
  Write("/proc/self/cgroup", "0::/slice/service/step");
  Write("/sys/fs/cgroup/slice/memory.max", "700000000");
  Write("/sys/fs/cgroup/slice/service/memory.max", "400000000");
  Write("/sys/fs/cgroup/slice/service/step/memory.max", "max");
  Write("/sys/fs/cgroup/slice/other/memory.max", "1000");
  EXPECT_EQ(Limit(), 400'000'000);
}

TEST_F(ControlGroups, AContainerSeesItsOwnGroupAtTheMount) {
  Write("/proc/self/cgroup", "4:memory:/docker/1f0c");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "200000000");
  EXPECT_EQ(Limit(), 200'000'000);
  Write("/proc/self/cgroup", "0::/../../elsewhere");
  Write("/sys/fs/cgroup/memory.max", "100000000");
  EXPECT_EQ(Limit(), 100'000'000);
}

TEST(MachineMemory, IsAtMostThatOfTheGroups) {
  EXPECT_GT(MachineMemory(), 0);
  EXPECT_LE(MachineMemory(), ControlGroupLimit());
}

}  // namespace
}  // namespace coden
