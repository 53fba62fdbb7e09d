// Every file of a folder of hostile Parquet files (fuzzer findings, wrong checksums), as
// every input and to inspect: an error or a list of problems, soon and without a crash.
// The folder is given by CODEN_HOSTILE.

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <gtest/gtest.h>

#include "coden/base/error.h"
#include "coden/graph/node_id_map.h"
#include "coden/read/parquet_source.h"
#include "coden/read/validation.h"
#include "coden/report/inspect.h"
#include "store/parquet_limits_internal.h"
#include "support/status.h"

namespace coden {
namespace {

constexpr std::chrono::seconds kLimit{2};

// Check `settings` and return how long that took.
std::chrono::duration<double> Validated(const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  SilentProgress progress;
  const auto problems = ValidateInputs(settings, {&progress});
  // What is wrong with an input is a problem in the list; only a lack of memory is an
  // error.
  EXPECT_TRUE(problems.ok() || FaultOf(problems.status()) == Fault::kResources)
      << problems.status().ToString();
  return std::chrono::steady_clock::now() - start;
}

// Name the columns of the settings after what the file has, so that values are read.
void NameColumns(const std::string& path, InputOptions* input) {
  const auto source = ParquetSource::Open(path);
  if (!source.ok()) return;
  for (const auto& field : (*source)->schema()->fields()) {
    const bool is_list = field->type()->num_fields() == 1;
    if (is_list) {
      input->feature = field->name();
    } else if (NodeIdMap::IdType(*field->type()).ok()) {
      input->src = input->dst = input->node = input->label = field->name();
      if (arrow::is_integer(field->type()->id())) input->time = field->name();
    }
  }
}

TEST(UntrustedPool, RefusesWhatTheMachineDoesNotHave) {
  std::uint8_t* data = nullptr;
  const arrow::Status status = UntrustedPool()->Allocate(std::int64_t{1} << 57, &data);
  EXPECT_TRUE(IsBeyondMemory(status)) << status;
  EXPECT_FALSE(IsBeyondMemory(arrow::Status::OutOfMemory("malloc failed")));
  CODEN_EXPECT_OK(UntrustedPool()->Allocate(64, &data));
  UntrustedPool()->Free(data, 64);
}

TEST(HostileFiles, EndInAnErrorOrAListOfProblems) {
  const char* root = std::getenv("CODEN_HOSTILE");
  const std::filesystem::path folder =
      std::filesystem::path(root == nullptr ? "" : root) / "parquet";
  if (!std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "set CODEN_HOSTILE to the folder of hostile files";
  }
  int num_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++num_files;
    const std::string path = entry.path().string();
    SCOPED_TRACE(path);
    const auto inspected = Inspect(path);
    EXPECT_TRUE(inspected.ok() || FaultOf(inspected.status()))
        << inspected.status().ToString();
    for (const bool own_columns : {false, true}) {
      Settings settings;
      if (own_columns) NameColumns(path, &settings.input);
      settings.input.edges = path;
      EXPECT_LT(Validated(settings), kLimit);
      settings.input.features = path;
      settings.input.feature_updates = path;
      settings.input.labels = path;
      EXPECT_LT(Validated(settings), kLimit);
    }
  }
  EXPECT_GT(num_files, 0);
}

}  // namespace
}  // namespace coden
